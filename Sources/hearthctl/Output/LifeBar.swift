import HearthCore

/// The rest of a token's life as a bar that shrinks to the left; a mark shows when the token is refreshed.
struct LifeBar {
  /// The remaining part of the life, from 0 to 1.
  let left: Double
  /// The part that remains at the next refresh; `nil` if there is none.
  let refresh: Double?
  /// The width in characters.
  let width: Int
  /// Whether to use Unicode's block characters, in eighths of a character, instead of ASCII.
  let hasBlocks: Bool

  /// Fails if the token has no expiry.
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

  /// A character with this many eighths filled.
  private func cell(_ eighths: Int) -> Character {
    guard hasBlocks else { return eighths >= 4 ? "#" : "." }
    return ["░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"][eighths]
  }
}
