import HearthCore

/// What is left of a token's life as a bar that drains to the left; a mark stands where the token is refreshed.
struct LifeBar {
  /// The part of the whole life that is left, from 0 to 1.
  let left: Double
  /// What is left of it when it is refreshed; nil if it is not.
  let refresh: Double?
  /// In characters.
  let width: Int
  /// With the block characters of Unicode, in eighths of a character; else in ASCII.
  let hasBlocks: Bool

  /// It is nil if the token names no expiry.
  init?(_ token: SessionStatus.TokenLife, at now: Timestamp, width: Int, hasBlocks: Bool) {
    guard let lifetime = token.lifetime, lifetime > .zero, let remaining = token.remaining(at: now) else { return nil }
    func share(_ left: Duration) -> Double { min(max(left / lifetime, 0), 1) }
    left = share(remaining)
    refresh = token.refreshAt.flatMap { refreshAt in token.expiresAt.map { share($0 - refreshAt) } }
    (self.width, self.hasBlocks) = (width, hasBlocks)
  }

  var text: String {
    let mark = refresh.map { min(Int($0 * Double(width)), width - 1) }
    let eighths = Int((left * Double(width) * 8).rounded())
    return String((0..<width).map { $0 == mark ? hasBlocks ? "│" : "|" : cell(min(max(eighths - 8 * $0, 0), 8)) })
  }

  /// A character of which so many eighths are left.
  private func cell(_ eighths: Int) -> Character {
    guard hasBlocks else { return eighths >= 4 ? "#" : "." }
    return ["░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"][eighths]
  }
}
