/// Remembers which tokens an account's APIs accept, to distinguish a 401 about one item from a 401 about the session.
package struct TokenAcceptance: Sendable {
  /// The number of accepted tokens that are remembered.
  private static let remembered = 8

  /// The tokens that were last answered with 2xx, the newest last.
  private var accepted: [Fingerprint] = []
  /// The token with which the last refresh after a 401 replaced the rejected one.
  private var replacement: Fingerprint?

  package init() {}

  package mutating func accepted(_ fingerprint: Fingerprint) {
    if accepted.last == fingerprint { return }
    accepted.removeAll { $0 == fingerprint }
    accepted.append(fingerprint)
    if accepted.count > Self.remembered { accepted.removeFirst() }
  }

  package func isAccepted(_ fingerprint: Fingerprint) -> Bool { accepted.contains(fingerprint) }

  /// Called when a refresh after a 401 has replaced the rejected token by this one. If an item was answered with 401
  /// before, a 401 to this token is its second.
  package mutating func replaced(by fingerprint: Fingerprint) { replacement = fingerprint }

  package func isReplacement(_ fingerprint: Fingerprint) -> Bool { replacement == fingerprint }
}
