import HearthCore

extension SessionStatus.TokenLife {
  /// A bar that shows the remaining part of the token's lifetime, with a mark for the next refresh. Returns `nil` if the
  /// token's lifetime or expiry is unknown. `hasBlocks` is whether to use Unicode block characters, which can show
  /// eighths of a cell, instead of ASCII.
  func bar(at now: Timestamp, width: Int, hasBlocks: Bool) -> String? {
    guard let lifetime, lifetime > .zero, let remaining = remaining(at: now) else { return nil }
    func share(_ left: Duration) -> Double { min(max(left / lifetime, 0), 1) * Double(width) }
    let mark = refreshAt.flatMap { refreshAt in expiresAt.map { min(Int(share($0 - refreshAt)), width - 1) } }
    let eighths = Int((share(remaining) * 8).rounded())
    func cell(_ eighths: Int) -> Character {
      guard hasBlocks else { return eighths >= 4 ? "#" : "." }
      return ["░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"][eighths]
    }
    return String((0..<width).map { $0 == mark ? hasBlocks ? "│" : "|" : cell(min(max(eighths - 8 * $0, 0), 8)) })
  }
}
