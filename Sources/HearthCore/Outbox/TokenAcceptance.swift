/// What an account's APIs think of its tokens: tells an item that alone is refused from a session that is over.
package struct TokenAcceptance: Sendable {
  private static let remembered = 8

  /// The last ones that were answered 2xx, the newest last.
  private var accepted: [Fingerprint] = []
  private var brought: Fingerprint?

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

  /// A 401 brought this token by a refresh. To an item that was refused before, another 401 is the second one.
  package mutating func brought(_ fingerprint: Fingerprint) {
    brought = fingerprint
  }

  package func wasBrought(_ fingerprint: Fingerprint) -> Bool {
    brought == fingerprint
  }
}
