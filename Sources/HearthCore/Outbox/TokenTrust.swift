/// What an account's APIs think of its tokens: tells an item that alone is refused from a session that is over.
package struct TokenTrust: Sendable {
  /// A token that a 401 brought is on trial for this long, as long as the session counts it as just issued.
  static let trial = Duration.seconds(30)
  private static let remembered = 8

  /// The last ones that were answered 2xx, the newest last.
  private var accepted: [Fingerprint] = []
  private var onTrial: (fingerprint: Fingerprint, since: Timestamp)?

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

  /// A 401 brought this token by a refresh: another 401 to it is the second one.
  package mutating func brought(_ fingerprint: Fingerprint, at now: Timestamp) {
    onTrial = (fingerprint, now)
  }

  package func isOnTrial(_ fingerprint: Fingerprint, at now: Timestamp) -> Bool {
    onTrial.map { $0.fingerprint == fingerprint && now - $0.since <= Self.trial } ?? false
  }
}
