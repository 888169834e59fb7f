/// How the refreshes of a session have gone so far. It outlasts a lock, so that no lock shortens a wait.
package struct RefreshHistory: Hashable, Sendable {
  package enum Outcome: String, Sendable, CaseIterable {
    case success, unavailable, rejected, misconfigured
  }

  /// Steps of the back-off in a row, since the last success.
  package var failures = 0
  package internal(set) var lastAttemptAt: Timestamp?
  package var lastAt: Timestamp?
  package var lastOutcome: Outcome?
  package var lastError: String?
  /// What keeps refreshes from succeeding; nil since the last one that did.
  package internal(set) var trouble: RefreshTrouble?

  /// The clock was set: waits last as long as they were meant to.
  mutating func move(by step: Duration) {
    lastAttemptAt = lastAttemptAt.map { $0 + step }
    lastAt = lastAt.map { $0 + step }
    trouble?.move(by: step)
  }
}

/// Why the last refresh failed, and how long the next one waits.
package struct RefreshTrouble: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// No connection: the network's return allows one attempt ahead of time in each step of the back-off.
    case unreachable(triedEarly: Bool)
    /// No answer, or one that says that the provider cannot serve it now.
    case unavailable
    /// A rejection whose reason is not known to be final.
    case unclear
    /// The provider rejects the configuration, or the token it grants cannot be used: a person has to mend that.
    case misconfigured
    /// Nothing was sent, because the answer could not be sealed without the passphrase.
    case passphraseNeeded
    /// The provider answered for another user: nothing is asked before somebody signs in.
    case otherUser

    /// The provider, or something in its place, was reached and gave neither a grant nor a final answer.
    var isFromProvider: Bool {
      switch self {
      case .unavailable, .unclear: true
      case .unreachable, .misconfigured, .passphraseNeeded, .otherUser: false
      }
    }
  }

  package internal(set) var kind: Kind
  /// No refresh is sent by itself before. A person's call may come earlier: at `floor`, or ten seconds after the last attempt.
  package internal(set) var until: Timestamp
  /// The provider's own `Retry-After`.
  package internal(set) var floor: Timestamp
  /// Since when the provider, or something in its place, has been reached and has given neither a grant nor a final
  /// answer.
  var refusingSince: Timestamp?
  /// When the step of the back-off ends; later than `until` while an attempt ahead of time is under way.
  var stepEnd: Timestamp

  /// A session whose token has expired asks its user to sign in once this has gone on for so long.
  static let patience: Duration = .seconds(600)

  mutating func move(by step: Duration) {
    until = until + step
    floor = floor + step
    refusingSince = refusingSince.map { $0 + step }
    stepEnd = stepEnd + step
  }

  /// What was in the way may be gone: the next attempt need not wait.
  mutating func clearWait() {
    let past = Timestamp(milliseconds: 0)
    (until, floor, stepEnd) = (past, past, past)
  }
}
