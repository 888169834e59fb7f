/// A credential in memory, and what is going on with it.
package struct HeldGrant: Hashable, Sendable {
  package var credential: Credential
  /// On disk as it is here; where not, it is written as soon as that can be.
  package var isStored: Bool
  /// Why the file cannot be read now; nil where it can.
  package var obstacle: Obstacle?
  /// The format of what a newer version wrote in its place; nil where nothing such was found.
  package var newerFormat: Int?
  /// When it is due to be refreshed; nil where it never expires.
  package var refreshAt: Timestamp?
  package var phase: RefreshPhase = .idle
  /// It was granted because the API had refused the one before it: refused again, the session ends.
  package var followsRefusal = false
  /// Its times were taken from the clock in this run, and not read.
  package var isTimedHere = false
  package var expiryAnnounced = false

  package init(credential: Credential, isStored: Bool, obstacle: Obstacle?, refreshAt: Timestamp?) {
    self.credential = credential
    self.isStored = isStored
    self.obstacle = obstacle
    self.refreshAt = refreshAt
  }

  package var grant: Grant { credential.grant }

  /// Stands where a first token can be had without asking anybody, and was not had yet.
  package var isEmpty: Bool { grant.accessToken.secret.isEmpty && grant.refreshToken == nil }

  /// The clock was set: a grant that was timed by it lasts as long as it did. One that was read keeps its times, which
  /// the clock may have only now come to agree with.
  mutating func move(by step: Duration) {
    if case .storing(var next) = phase {
      next.grant.move(by: step)
      phase = .storing(next)
    }
    guard isTimedHere else { return }
    credential.grant.move(by: step)
    refreshAt = refreshAt.map { $0 + step }
    if step > Self.worthWriting || step < .zero - Self.worthWriting { isStored = false }
  }

  /// From this step on, the times on disk would mislead the next start.
  private static let worthWriting: Duration = .seconds(60)
}

/// Where a refresh stands. One at a time: that is what this enum is for.
package enum RefreshPhase: Hashable, Sendable {
  case idle
  case inFlight
  /// The provider has answered; the new grant is on its way to the disk, and nobody sees it before it is there.
  case storing(Credential)
  /// The provider refused for good; the file is read once more, in case another program was faster.
  case confirming(EndReason)
}

/// After a failure: no refresh is sent by itself before `until`.
package struct RefreshWait: Hashable, Sendable {
  package var until: Timestamp
  /// The provider's own `Retry-After`: neither a user's call nor the network's return shortens the wait below it.
  package let floor: Timestamp
  package let isMisconfigured: Bool
}

/// How the refreshes of a session have gone so far. It outlasts a lock, so that no lock shortens a wait.
package struct RefreshHistory: Hashable, Sendable {
  package enum Outcome: String, Sendable {
    case success, unavailable, rejected, misconfigured
  }

  /// In a row, since the last success.
  package var failures = 0
  package var lastAttemptAt: Timestamp?
  package var lastAt: Timestamp?
  package var lastOutcome: Outcome?
  package var lastError: String?
  /// The reply of the attempt before was lost: this is the one repetition at once.
  package var repeatsLostReply = false
  /// Nothing was asked, because the answer could not be sealed without the passphrase.
  package var needsPassphrase = false
  package var wait: RefreshWait?

  package init(lastAttemptAt: Timestamp? = nil) {
    self.lastAttemptAt = lastAttemptAt
  }

  /// The clock was set: waits last as long as they were meant to.
  mutating func move(by step: Duration) {
    lastAttemptAt = lastAttemptAt.map { $0 + step }
    lastAt = lastAt.map { $0 + step }
    wait = wait.map {
      RefreshWait(until: $0.until + step, floor: $0.floor + step, isMisconfigured: $0.isMisconfigured)
    }
  }
}
