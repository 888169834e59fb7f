/// Tracks which tokens an account's APIs accept, to distinguish a 401 for one item from a 401 for the whole session.
struct TokenAcceptance: Sendable {
  private static let remembered = 8

  /// The tokens that APIs last accepted with a 2xx, newest last.
  private var accepted: [Fingerprint] = []
  /// The token from the last refresh after a 401.
  private var replacement: Fingerprint?

  mutating func accepted(_ fingerprint: Fingerprint) {
    if accepted.last == fingerprint { return }
    accepted.removeAll { $0 == fingerprint }
    accepted.append(fingerprint)
    if accepted.count > Self.remembered { accepted.removeFirst() }
  }

  func isAccepted(_ fingerprint: Fingerprint) -> Bool { accepted.contains(fingerprint) }

  /// Records the token from a refresh after a 401. If an item has already got a 401 for an earlier token, a 401 for the
  /// new token counts as its second.
  mutating func replaced(by fingerprint: Fingerprint) { replacement = fingerprint }

  func isReplacement(_ fingerprint: Fingerprint) -> Bool { replacement == fingerprint }
}
