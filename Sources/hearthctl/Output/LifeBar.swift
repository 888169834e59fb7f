import HearthCore

/// A bar that shows the remaining part of a token's lifetime, with a mark for the next refresh.
struct LifeBar {
  /// The remaining part of the lifetime, as a fraction from 0 to 1.
  let left: Double
  /// The fraction that will remain at the next refresh, or `nil` if no refresh is planned.
  let refresh: Double?
  let width: Int
  /// Whether to use Unicode block characters, which can show eighths of a cell, instead of ASCII.
  let hasBlocks: Bool

  /// Creates the bar for a token. Returns `nil` if the token's lifetime or expiry is unknown.
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

  /// Returns the character for a cell with this many eighths filled.
  private func cell(_ eighths: Int) -> Character {
    guard hasBlocks else { return eighths >= 4 ? "#" : "." }
    return ["░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"][eighths]
  }
}
