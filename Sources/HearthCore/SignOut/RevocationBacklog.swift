/// Decides when to retry pending revocations and when to give up.
///
/// A revocation is held while its user is signed in, because many providers revoke all of a user's grants together
/// (`SessionMachine.mayShareUser`). It is not held if the provider is known to revoke only the one grant.
package struct RevocationBacklog: Sendable {
  package enum Action: Hashable, Sendable {
    /// If the account is missing, or if the revocation could end another session of the grant's user, call `held`.
    /// Otherwise, ask the account's provider to revoke the grant, then call `ended`.
    case ask(PendingRevocation)
    /// Delete the revocation, including its copy on disk. The outcome is `unavailable` if Hearth gives up.
    case remove(PendingRevocation, RevocationOutcome)
  }

  private struct Entry {
    let pending: PendingRevocation
    var failures = 0
    var nextAt: Timestamp
    /// The time at which Hearth gives up on the revocation, according to this machine's clock.
    var expiresAt: Timestamp
    var isUnderWay = false
    /// Whether the revocation was held when it was last due.
    var isHeld = false
    /// Whether the user of any session has changed since the revocation became due.
    var isOutdated = false
  }

  private static let policy = RetryPolicy(initial: .seconds(60), max: .seconds(6 * 3600))

  private var entries: [Entry] = []

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  package func holdsAny(of account: AccountName) -> Bool { entries.contains { $0.pending.account == account } }

  /// The next time at which `woke` has something to do, or `nil` if another event has to come first.
  package var nextWake: Timestamp? {
    entries.filter { !$0.isUnderWay }.map { Swift.min($0.nextAt, $0.expiresAt) }.min()
  }

  /// Adds a grant that could not be revoked just now. `share` is a random number in 0..<1.
  package mutating func failed(
    _ pending: PendingRevocation, retryAfter: Duration?, share: Double, at now: Timestamp
  ) -> [Action] {
    entries.append(Entry(pending: pending, nextAt: now, expiresAt: pending.expiresAt))
    return ended(pending.id, .unavailable(retryAfter: retryAfter), share: share, at: now)
  }

  /// Adds a grant that is no longer used. Its revocation is due immediately.
  package mutating func add(_ pending: PendingRevocation, at now: Timestamp) -> [Action] {
    entries.append(Entry(pending: pending, nextAt: now, expiresAt: pending.expiresAt))
    return woke(at: now)
  }

  /// Adds the grants that were on disk when the daemon started. The clock may have been wrong when they were saved, or
  /// may be wrong now. Hearth therefore tries to revoke each grant at least once, and relies on the provider's clock to
  /// decide whether a grant has already expired.
  package mutating func recall(_ pending: [PendingRevocation], at now: Timestamp) -> [Action] {
    entries += pending.map { Entry(pending: $0, nextAt: now, expiresAt: now + PendingRevocation.longest) }
    return woke(at: now)
  }

  package mutating func woke(at now: Timestamp) -> [Action] {
    let over = entries.filter { !$0.isUnderWay && $0.expiresAt <= now }.map(\.pending)
    entries.removeAll { entry in over.contains { $0.id == entry.pending.id } }
    var actions = over.map { Action.remove($0, .unavailable(retryAfter: nil)) }
    for index in entries.indices where entries[index].nextAt <= now {
      guard !entries[index].isUnderWay else { continue }
      (entries[index].isUnderWay, entries[index].isHeld, entries[index].isOutdated) = (true, false, false)
      actions.append(.ask(entries[index].pending))
    }
    return actions
  }

  /// Handles the result of a revocation. `providerTime` is the time on the provider's clock, if known.
  package mutating func ended(
    _ id: String, _ outcome: RevocationOutcome, providerTime: Timestamp? = nil, share: Double, at now: Timestamp
  ) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.pending.id == id }) else { return [] }
    if case .unavailable(let retryAfter) = outcome {
      guard let providerTime, entries[index].pending.expiresAt <= providerTime else {
        return wait(index, retryAfter, share: share, at: now)
      }
    }
    return [.remove(entries.remove(at: index).pending, outcome)]
  }

  /// Handles a revocation that was not sent because the account is missing or the revocation could have ended another
  /// session. It is retried when the user of any session changes, or after the usual wait.
  package mutating func held(_ id: String, share: Double, at now: Timestamp) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.pending.id == id }) else { return [] }
    if entries[index].isOutdated {
      (entries[index].isUnderWay, entries[index].nextAt) = (false, now)
      return woke(at: now)
    }
    entries[index].isHeld = true
    return wait(index, nil, share: share, at: now)
  }

  private mutating func wait(_ index: Int, _ retryAfter: Duration?, share: Double, at now: Timestamp) -> [Action] {
    entries[index].isUnderWay = false
    entries[index].failures += 1
    let wait = Self.policy.wait(failures: entries[index].failures, retryAfter: retryAfter, random: share)
    entries[index].nextAt = now + wait
    return woke(at: now)
  }

  /// Shifts all deadlines after the clock was set. Waits keep their lengths.
  package mutating func move(by step: Duration) {
    for index in entries.indices {
      entries[index].nextAt = entries[index].nextAt + step
      entries[index].expiresAt = entries[index].expiresAt + step
    }
  }

  /// Retries all revocations. Called when the network may be back.
  package mutating func networkReturned(at now: Timestamp) -> [Action] {
    for index in entries.indices { entries[index].nextAt = now }
    return woke(at: now)
  }

  /// Retries held revocations. Called when the user of any session has changed.
  package mutating func usersChanged(at now: Timestamp) -> [Action] {
    for index in entries.indices where entries[index].isUnderWay { entries[index].isOutdated = true }
    for index in entries.indices where entries[index].isHeld {
      (entries[index].isHeld, entries[index].failures, entries[index].nextAt) = (false, 0, now)
    }
    return woke(at: now)
  }
}
