/// Decides when the grants that could not be revoked are tried again, and when one is given up.
///
/// One is held back while the same user is signed in: some providers end all of a user's grants with one of them. (Google,
/// "Revoking a token": the permissions that the user granted are withdrawn.)
package struct RevocationBacklog: Sendable {
  package enum Action: Hashable, Sendable {
    /// Ask the account's provider. → `ended`
    case ask(PendingRevocation)
    /// Forget it, also on the disk.
    case remove(PendingRevocation, Reason)
  }

  package enum Reason: Hashable, Sendable {
    case revoked
    case refused(message: String)
    case expired
  }

  /// Who is signed in to an account.
  package enum Owner: Hashable, Sendable {
    case nobody
    /// Nil: the provider has not told who.
    case user(Subject?)
  }

  private struct Entry {
    let pending: PendingRevocation
    var failures = 0
    var nextAt: Timestamp
    var isUnderWay = false
  }

  /// Waits between half and whole of a step that doubles, from a minute up to six hours.
  private static let policy = RetryPolicy(initial: .seconds(60), max: .seconds(6 * 3600))

  private var entries: [Entry] = []
  private var owners: [AccountName: Owner] = [:]

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  package func holdsAny(of account: AccountName) -> Bool { entries.contains { $0.pending.account == account } }

  /// The next time at which `woke` has something to do; nil: only other events can bring that about.
  package var nextWake: Timestamp? {
    entries.filter { !$0.isUnderWay }
      .map { isHeld($0.pending) ? $0.pending.expiresAt : Swift.min($0.nextAt, $0.pending.expiresAt) }.min()
  }

  /// A grant that has just failed to be revoked. `share`: of the wait, from 0 up to 1.
  package mutating func failed(
    _ pending: PendingRevocation, retryAfter: Duration?, share: Double, at now: Timestamp
  ) -> [Action] {
    entries.append(Entry(pending: pending, nextAt: now))
    return ended(pending.id, .unavailable(retryAfter: retryAfter), share: share, at: now)
  }

  /// What lay on the disk at the start.
  package mutating func recalled(_ pending: [PendingRevocation], at now: Timestamp) -> [Action] {
    entries += pending.map { Entry(pending: $0, nextAt: now) }
    return woke(at: now)
  }

  package mutating func woke(at now: Timestamp) -> [Action] {
    let over = entries.filter { !$0.isUnderWay && $0.pending.expiresAt <= now }.map(\.pending)
    entries.removeAll { entry in over.contains { $0.id == entry.pending.id } }
    var actions = over.map { Action.remove($0, .expired) }
    for index in entries.indices where entries[index].nextAt <= now {
      guard !entries[index].isUnderWay, !isHeld(entries[index].pending) else { continue }
      entries[index].isUnderWay = true
      actions.append(.ask(entries[index].pending))
    }
    return actions
  }

  package mutating func ended(
    _ id: String, _ outcome: RevocationOutcome, share: Double, at now: Timestamp
  ) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.pending.id == id }) else { return [] }
    let reason: Reason
    switch outcome {
    case .revoked: reason = .revoked
    case .refused(let message): reason = .refused(message: message)
    case .unavailable(let retryAfter):
      entries[index].isUnderWay = false
      entries[index].failures += 1
      let wait = Self.policy.wait(failures: entries[index].failures, retryAfter: retryAfter, random: share)
      entries[index].nextAt = now + wait
      return woke(at: now)
    }
    return [.remove(entries.remove(at: index).pending, reason)]
  }

  /// The clock was stepped: each wait lasts as long as it was meant to.
  package mutating func move(by step: Duration) {
    for index in entries.indices { entries[index].nextAt = entries[index].nextAt + step }
  }

  /// The network may be back: what failed for want of it is tried at once.
  package mutating func networkReturned(at now: Timestamp) -> [Action] {
    for index in entries.indices { entries[index].nextAt = now }
    return woke(at: now)
  }

  /// Who is signed in now. Somebody else's sign-in, or a sign-out, sets free what was held back.
  package mutating func ownerIs(_ owner: Owner, of account: AccountName, at now: Timestamp) -> [Action] {
    guard owners[account] != owner else { return [] }
    owners[account] = owner
    return woke(at: now)
  }

  private func isHeld(_ pending: PendingRevocation) -> Bool {
    switch owners[pending.account] {
    case .nobody?: return false
    // Until the session has been read nobody knows.
    case nil, .user(nil)?: return true
    case .user(let subject?)?: return pending.credential.subject.map { $0 == subject } ?? true
    }
  }
}
