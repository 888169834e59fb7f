/// The history of a session's refreshes. It survives locks, because a lock must not shorten a wait.
package struct RefreshHistory: Hashable, Sendable {
  package enum Outcome: String, Sendable, CaseIterable {
    case success, unavailable, rejected, misconfigured
  }

  /// The number of back-off steps since the last success.
  package var failures = 0
  package internal(set) var lastAttemptAt: Timestamp?
  package var lastAt: Timestamp?
  package var lastOutcome: Outcome?
  package var lastError: String?
  /// The reason why the last refresh failed, or `nil` if no refresh has failed since the last success.
  package internal(set) var trouble: RefreshTrouble?

  /// Shifts all times after the clock was set. Waits keep their lengths.
  mutating func move(by step: Duration) {
    lastAttemptAt = lastAttemptAt.map { $0 + step }
    lastAt = lastAt.map { $0 + step }
    trouble?.move(by: step)
  }
}

/// The reason why the last refresh failed, and how long to wait before the next one.
package struct RefreshTrouble: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// No connection could be made. When the network returns, each step of the back-off allows one early attempt.
    case unreachable(triedEarly: Bool)
    /// The provider did not respond or reported that it is unavailable, or nothing was sent because the response
    /// could not have been stored.
    case unavailable
    /// The provider rejected the request, but the reason is not known to be final.
    case unclear
    /// The provider rejects the configuration or returns an unusable token. A person has to fix this.
    case misconfigured
    /// Nothing was sent, because the response could not be sealed without the passphrase.
    case passphraseNeeded
    /// The provider returned another user's grant. Nothing is sent until a user signs in.
    case otherUser

    /// Whether the provider, or something posing as it, was reached but gave no definite answer.
    var isFromProvider: Bool {
      switch self {
      case .unavailable, .unclear: true
      case .unreachable, .misconfigured, .passphraseNeeded, .otherUser: false
      }
    }
  }

  package internal(set) var kind: Kind
  /// The earliest time of the next automatic refresh. A refresh that a user asks for can be sent at `floor`, or ten
  /// seconds after the last attempt if that is earlier.
  package internal(set) var until: Timestamp
  /// The end of the provider's own `Retry-After` or, without one, the time of the failure.
  package internal(set) var floor: Timestamp
  /// The time of the first failure since the last success in which the provider, or something posing as it, gave no
  /// definite answer. `nil` if there was no such failure.
  var refusingSince: Timestamp?
  /// The end of the current back-off step. It is later than `until` while an early attempt is allowed.
  var stepEnd: Timestamp

  /// How long the provider must have given no definite answer before Hearth advises a sign-in for an expired token.
  static let timeout: Duration = .seconds(600)

  mutating func move(by step: Duration) {
    until = until + step
    floor = floor + step
    refusingSince = refusingSince.map { $0 + step }
    stepEnd = stepEnd + step
  }

  /// Ends the wait, so that the next attempt can be made immediately.
  mutating func clearWait(at now: Timestamp) { (until, floor, stepEnd) = (now, now, now) }
}
