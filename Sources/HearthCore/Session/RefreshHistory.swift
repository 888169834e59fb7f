/// The history of a session's refreshes. It outlasts a lock, so that no lock shortens a wait.
package struct RefreshHistory: Hashable, Sendable {
  package enum Outcome: String, Sendable, CaseIterable {
    case success, unavailable, rejected, misconfigured
  }

  /// The number of back-off steps in a row since the last success.
  package var failures = 0
  package internal(set) var lastAttemptAt: Timestamp?
  package var lastAt: Timestamp?
  package var lastOutcome: Outcome?
  package var lastError: String?
  /// What prevents refreshes from succeeding, or `nil` since the last success.
  package internal(set) var trouble: RefreshTrouble?

  /// Called when the clock was set. Waits keep their lengths.
  mutating func move(by step: Duration) {
    lastAttemptAt = lastAttemptAt.map { $0 + step }
    lastAt = lastAt.map { $0 + step }
    trouble?.move(by: step)
  }
}

/// Why the last refresh failed, and how long the next one waits.
package struct RefreshTrouble: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// No connection. When the network returns, one early attempt is allowed in each step of the back-off.
    case unreachable(triedEarly: Bool)
    /// No answer, or one that says that the provider cannot serve it now.
    case unavailable
    /// A rejection whose reason is not known to be final.
    case unclear
    /// The provider rejects the configuration, or grants a token that cannot be used. A person has to fix that.
    case misconfigured
    /// Nothing was sent, because the answer could not be sealed without the passphrase.
    case passphraseNeeded
    /// The provider answered for another user. Nothing is sent before a user signs in.
    case otherUser

    /// Whether the provider, or something in its place, was reached and gave neither a grant nor a final answer.
    var isFromProvider: Bool {
      switch self {
      case .unavailable, .unclear: true
      case .unreachable, .misconfigured, .passphraseNeeded, .otherUser: false
      }
    }
  }

  package internal(set) var kind: Kind
  /// No automatic refresh is sent before this time. A user's call may come at `floor`, or after ten seconds.
  package internal(set) var until: Timestamp
  /// The time that the provider's own `Retry-After` ends.
  package internal(set) var floor: Timestamp
  /// Since when the provider, or something in its place, has answered with neither a grant nor a final answer.
  var refusingSince: Timestamp?
  /// When the step of the back-off ends. Later than `until` while an early attempt is under way.
  var stepEnd: Timestamp

  /// After this time a session whose token has expired asks its user to sign in.
  static let timeout: Duration = .seconds(600)

  mutating func move(by step: Duration) {
    until = until + step
    floor = floor + step
    refusingSince = refusingSince.map { $0 + step }
    stepEnd = stepEnd + step
  }

  /// Called when the obstacle may be gone, so that the next attempt need not wait.
  mutating func clearWait() {
    let past = Timestamp(milliseconds: 0)
    (until, floor, stepEnd) = (past, past, past)
  }
}
