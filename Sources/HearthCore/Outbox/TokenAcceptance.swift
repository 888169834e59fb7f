/// Which tokens an account's APIs accept. It tells a 401 that is about one item from a 401 that is about the session.
package struct TokenAcceptance: Sendable {
  /// How many accepted tokens are remembered.
  private static let remembered = 8

  /// The tokens that were last answered with 2xx, the newest last.
  private var accepted: [Fingerprint] = []
  /// The token that the last refresh after a 401 has put in the place of the rejected one.
  private var replacement: Fingerprint?

  package init() {}

  package mutating func accepted(_ fingerprint: Fingerprint) {
    if accepted.last == fingerprint { return }
    accepted.removeAll { $0 == fingerprint }
    accepted.append(fingerprint)
    if accepted.count > Self.remembered { accepted.removeFirst() }
  }

  package func isAccepted(_ fingerprint: Fingerprint) -> Bool {
    accepted.contains(fingerprint)
  }

  /// A refresh after a 401 has put this token in the place of the rejected one. For an item that was answered 401 before, a
  /// 401 to this token is the second.
  package mutating func replaced(by fingerprint: Fingerprint) {
    replacement = fingerprint
  }

  package func isReplacement(_ fingerprint: Fingerprint) -> Bool {
    replacement == fingerprint
  }
}
