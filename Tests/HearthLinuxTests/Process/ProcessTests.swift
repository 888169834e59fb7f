import CLinux
import Glibc
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
        == "Another hearthd (process \(getpid())) is running on the state folder \(folder.path).")
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
