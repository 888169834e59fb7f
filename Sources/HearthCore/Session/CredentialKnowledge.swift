/// What is known of the credential.
package enum CredentialKnowledge: Hashable, Sendable {
  /// Not read yet, or to be read again.
  case unread
  /// There is one; a lock keeps it out of memory.
  case withheld
  case unreadable(Obstacle)
  case held(HeldGrant)
  /// The end is being written down; until it is, clients see what they saw.
  case ending(EndRecord, shownAs: SessionState)
  case ended(EndRecord)
  case absent(signedOut: Bool)
}

/// When the credential is looked at again.
struct LookPlan: Hashable, Sendable {
  var isReading = false
  /// Asked for while a read was under way, or not begun yet.
  var isWanted = false
  /// Looks in a row that found the file unreadable.
  var fruitless = 0
  var againAt: Timestamp?

  /// 0.3 s doubling to 30 s, for ever: neither inotify nor anything else tells that a locked place was opened.
  mutating func wasFruitless(at now: Timestamp) {
    fruitless += 1
    let doublings = Swift.min(fruitless - 1, 10)
    againAt = now + Swift.min(.milliseconds(300) * (1 << doublings), .seconds(30))
  }

  mutating func wasFruitful() {
    fruitless = 0
    againAt = nil
  }
}

/// When what could not be written is written again.
struct WritePlan: Hashable, Sendable {
  /// Writes, ends and removals that the store has not answered yet.
  var underWay = 0
  var failures = 0
  var againAt: Timestamp?
  var lastObstacle: Obstacle?

  var isWriting: Bool { underWay > 0 }

  mutating func failed(_ obstacle: Obstacle, at now: Timestamp, share: Double) {
    failures += 1
    lastObstacle = obstacle
    againAt =
      now
      + RefreshSettings.backoff(
        initial: .milliseconds(500), limit: .seconds(30), failures: failures, share: share)
  }

  mutating func succeeded() {
    failures = 0
    againAt = nil
    lastObstacle = nil
  }
}

/// A call that waits for its answer.
struct WaitingCall: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    case succeeded
    case failed(message: String, retryAfter: Duration?)
  }

  enum Kind: Hashable, Sendable {
    case token(minValidity: Duration?)
    case refresh
    case refusal(Fingerprint)
    case look
    /// With the newest grant in memory, where there was one.
    case signOut(Credential?, revoke: Bool)
    /// `unlocks`: the user's own lock was there when the grant was brought.
    case adoption(asRefreshed: Bool, unlocks: Bool)
  }

  let id: CallID
  let kind: Kind
  var askedAt: Timestamp
  var outcome: Outcome?
}
