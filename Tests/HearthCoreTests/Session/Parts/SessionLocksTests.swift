import TestSupport
import Testing

@testable import HearthCore

@Suite("The locks of a session")
struct SessionLocksTests {
  @Test("record the user's own lock once, and no other")
  func notes() {
    var locks = SessionLocks()
    locks.restore(lockedByUser: false)
    #expect(locks.add(.screen) == [])
    #expect(locks.add(.user) == [.rememberLockedByUser(true)])
    #expect(locks.add(.user) == [])
    #expect(locks.first == .user)
    #expect(locks.remove(.user) == [.rememberLockedByUser(false)])
    #expect(locks.remove(.user) == [])
    #expect(locks.remove(.screen) == [])
    #expect(locks.isEmpty)
  }

  @Test("record an unlock even before it is known whether there was a lock")
  func unlockBeforeTheStart() {
    var locks = SessionLocks()
    #expect(locks.remove(.user) == [.rememberLockedByUser(false)])
    locks.restore(lockedByUser: true)
    #expect(locks.isEmpty, "the note that is under way is newer than what was remembered")
  }

  @Test("write a note again if it failed, and only then")
  func repeats() {
    var (locks, random) = (SessionLocks(), SeededGenerator(seed: 1))
    _ = locks.add(.user)
    #expect(locks.note.isUnderWay)
    #expect(locks.rewriteNoteIfDue(at: .sample) == [])
    locks.noteWritten(.failure(.full), at: .sample, &random)
    #expect(locks.note.lastFailure == .full)
    #expect(locks.rewriteNoteIfDue(at: .sample) == [])
    #expect(locks.rewriteNoteIfDue(at: .sample + .seconds(1)) == [.rememberLockedByUser(true)])
    locks.noteWritten(.success(()), at: .sample, &random)
    #expect(locks.note.lastFailure == nil && locks.note.wakeAt == nil)
    #expect(locks.rewriteNoteIfDue(at: .sample + .seconds(1)) == [])
  }
}
