import CLinux
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

@Suite("The process", .timeLimit(.minutes(1)))
struct ProcessTests {
  @Test("is hardened: no dumps, files for its user alone, a broken pipe is no signal")
  func hardening() async {
    await #expect(processExitsWith: .success) {
      try Hardening.apply()
      #expect(hearth_is_dumpable() == 0)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
      #expect(umask(0o077) == 0o077)
      raise(SIGPIPE)
    }
  }

  @Test("a second lock on a state folder is refused, naming folder and process, until the first is let go")
  func lock() throws {
    let folder = TemporaryFolder()
    let first = try InstanceLock.acquire(inStateFolder: folder.path)
    let refusal = InstanceLockFailure.taken(folder: folder.path, holder: getpid())
    #expect(throws: refusal) { try InstanceLock.acquire(inStateFolder: folder.path) }
    #expect(
      refusal.description
        == "Another hearthd (process \(getpid())) is using the state folder \(folder.path).")
    withExtendedLifetime(first) {}
  }

  @Test("a lock that was let go can be taken again")
  func lockAgain() throws {
    let folder = TemporaryFolder()
    _ = try InstanceLock.acquire(inStateFolder: folder.path)
    // A process that another test is about to begin holds what was open at its fork until its exec.
    try eventually("it is taken again") { (try? InstanceLock.acquire(inStateFolder: folder.path)) != nil }
  }

  @Test("the lock file is the user's alone and no link is followed to it")
  func lockFile() throws {
    let folder = TemporaryFolder()
    let lock = try InstanceLock.acquire(inStateFolder: folder.path)
    var status = stat()
    try #require(stat("\(folder.path)/lock", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    withExtendedLifetime(lock) {}

    let other = TemporaryFolder()
    symlink(other.file("elsewhere"), other.file("lock"))
    #expect(throws: InstanceLockFailure.self) { try InstanceLock.acquire(inStateFolder: other.path) }
    #expect(access(other.file("elsewhere"), F_OK) != 0)
  }

  /// Runs `body` while the lock is kept, by a clock and a watch of its own.
  private func keeping(
    _ folder: String, _ lock: InstanceLock, _ log: LogRecorder = LogRecorder(),
    _ body: (SilentWatch, ManualClock) async throws -> Void
  ) async throws {
    let (watch, clock) = (SilentWatch(), ManualClock())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await lock.keep(watch, clock: clock, logger: log.logger) }
      try await waitUntil { watch.paths == [folder + "/lock"] }
      try await body(watch, clock)
      group.cancelAll()
    }
  }

  private func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test("a lock whose file, or the folder with it, was removed is there again, so that a second one is still refused")
  func lockRemoved() async throws {
    let folder = TemporaryFolder()
    let state = folder.file("state")
    try Files.makeFolder(state)
    let lock = try InstanceLock.acquire(inStateFolder: state)
    let log = LogRecorder()
    try await keeping(state, lock, log) { watch, clock in
      func expectKept(_ count: Int) async throws {
        try await waitUntil { log.records.filter { $0.message.contains("created it again") }.count == count }
        #expect(throws: InstanceLockFailure.taken(folder: state, holder: getpid())) {
          try InstanceLock.acquire(inStateFolder: state)
        }
      }
      try Files.remove(state + "/lock")
      watch.hint()
      try await expectKept(1)
      Files.removeTree(state)
      watch.hint()
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      try Files.makeFolder(state)
      clock.advance(by: .seconds(10))
      try await expectKept(2)
    }
  }

  @Test("a lock that another process has taken meanwhile ends its holder, unless that one ends at once")
  func lockTaken() async throws {
    let folder = TemporaryFolder()
    let lock = try InstanceLock.acquire(inStateFolder: folder.path)
    try Files.remove(folder.file("lock"))
    var other: InstanceLock? = try InstanceLock.acquire(inStateFolder: folder.path)
    let log = LogRecorder()
    try await keeping(folder.path, lock, log) { watch, clock in
      watch.hint()
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      other = nil
      // A process that another test starts may have the file open for a moment.
      var status = stat()
      #expect(stat(folder.file("lock"), &status) == 0)
      let inode = status.st_ino
      try await waitUntil { !Files.text("/proc/locks").contains(":\(inode) ") }
      clock.advance(by: .seconds(10))
      try await waitUntil { log.records.last?.message.contains("created it again") == true }
    }
    try Files.remove(folder.file("lock"))
    other = try InstanceLock.acquire(inStateFolder: folder.path)
    let (watch, clock) = (SilentWatch(), ManualClock())
    await #expect(throws: InstanceLockFailure.taken(folder: folder.path, holder: getpid())) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await lock.keep(watch, clock: clock, logger: log.logger) }
        try await waitUntil { !watch.paths.isEmpty }
        watch.hint()
        await clock.waitForSleeper(until: clock.now() + .seconds(10))
        clock.advance(by: .seconds(10))
        try await group.waitForAll()
      }
    }
    withExtendedLifetime(other) {}
  }

  @Test("another process is refused too, and the lock ends with its holder")
  func lockOfAnotherProcess() async throws {
    let folder = TemporaryFolder()
    let first = try InstanceLock.acquire(inStateFolder: folder.path)
    await #expect(processExitsWith: .success) { [path = folder.path as String, holder = getpid() as Int32] in
      #expect(throws: InstanceLockFailure.taken(folder: path, holder: holder)) {
        try InstanceLock.acquire(inStateFolder: path)
      }
    }
    withExtendedLifetime(first) {}

    let second = TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = second.path as String] in
      let lock = try InstanceLock.acquire(inStateFolder: path)
      withExtendedLifetime(lock) { exit(EXIT_SUCCESS) }
    }
    _ = try InstanceLock.acquire(inStateFolder: second.path)
  }
}
