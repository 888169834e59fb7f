/// The locks that are set, and the note on disk that preserves the user's own lock across restarts.
package struct SessionLocks: Hashable, Sendable {
  package private(set) var all: Set<Lock> = []
  /// Whether the note on disk has been read. Until then, the session does not read the credential, because the user may
  /// have locked the account.
  private(set) var areKnown = false
  var note = WriteRetry()

  package var isEmpty: Bool { all.isEmpty }

  /// The lock to show to clients.
  var first: Lock? { Lock.allCases.first(where: all.contains) }

  /// The reason why the user's lock would not survive a restart, or `nil` if it would survive or is not set.
  package var whyForgotten: AccessFailure? { all.contains(.user) ? note.lastFailure : nil }

  func contains(_ lock: Lock) -> Bool { all.contains(lock) }

  mutating func add(_ lock: Lock) -> [SessionAction] {
    all.insert(lock).inserted && lock == .user ? writeNote() : []
  }

  /// Removes a lock. Until the note has been read, an unlock by the user is always saved.
  mutating func remove(_ lock: Lock) -> [SessionAction] {
    let isChange = all.remove(lock) != nil || !areKnown
    return isChange && lock == .user ? writeNote() : []
  }

  /// Restores the user's lock from the note on disk, unless a newer note has not been written yet.
  mutating func restore(lockedByUser: Bool) {
    areKnown = true
    if lockedByUser, !note.isUnderWay, note.failures == 0 { all.insert(.user) }
  }

  /// Saves whether the user's lock is set. The store writes notes in order, so the last one wins.
  private mutating func writeNote() -> [SessionAction] {
    note.begin()
    return [.rememberLockedByUser(all.contains(.user))]
  }

  mutating func noteWritten(_ result: Result<Void, AccessFailure>, at now: Timestamp, _ random: inout SeededGenerator) {
    note.end()
    switch result {
    case .success: note.succeeded()
    case .failure(let accessFailure): note.failed(accessFailure, at: now, share: random.share())
    }
  }

  mutating func rewriteNoteIfDue(at now: Timestamp) -> [SessionAction] {
    note.failures > 0 && note.mayBegin(at: now) ? writeNote() : []
  }
}
