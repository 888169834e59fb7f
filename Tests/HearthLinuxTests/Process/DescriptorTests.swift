import CLinux
import Glibc
import HearthControl
import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthLinux

@Suite("Descriptors", .timeLimit(.minutes(1)))
struct DescriptorTests {
  /// Each test limits a process of its own.
  private static func limit(_ soft: UInt, _ hard: UInt) {
    var limit = rlimit(rlim_cur: soft, rlim_max: hard)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Opens all that may be opened.
  private static func exhaust() -> [Int32] {
    var opened: [Int32] = []
    while true {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return opened }
      opened.append(descriptor)
    }
  }

  /// On the daemon's event loop: where no descriptor is left, Dispatch ends a process whose work waits for its threads.
  private static func asInTheDaemon(_ body: @Sendable () async throws -> Void) async throws {
    try await withTaskExecutorPreference(EventLoopExecutor.only()) { try await body() }
  }

  /// Why a process that was to end well did not.
  private static func show(_ end: ExitTest.Result?) {
    guard let end, end.exitStatus != .exitCode(0) else { return }
    Issue.record("It wrote: \(String(decoding: end.standardErrorContent, as: UTF8.self))")
  }

  @Test("the soft limit is raised to the hard one")
  func raised() async {
    await #expect(processExitsWith: .success) {
      Self.limit(100, 300)
      let descriptors = try Descriptors.prepare()
      #expect(descriptors.limit == 300)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #expect(limit.rlim_cur == 300)
    }
  }

  @Test("too few are refused in one sentence that says what to do")
  func tooFew() async {
    await #expect(processExitsWith: .success) {
      Self.limit(16, 16)
      let failure = #expect(throws: MissingResource.self) { try Descriptors.prepare() }
      let sentence = try #require(failure?.description)
      #expect(sentence.contains("ulimit -n") && sentence.contains("needs 40") && !sentence.contains("\n"))
    }
  }

  @Test(
    "clients get half of what is left, 256 at most",
    arguments: [(43, 4), (64, 12), (256, 108), (551, 255), (552, 256), (1 << 20, 256)])
  func shares(_ limit: Int, _ connections: Int) {
    #expect(Descriptors(limit: limit).connections == connections)
  }

  @Test("files are read, listed and written, many at once, where no other descriptor can be had")
  func spare() async {
    let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      let path = folder.file("credential")
      try Files.write("token", to: path)
      Self.limit(100, 100)
      _ = try Descriptors.prepare()
      try await Self.asInTheDaemon {
        let systems = (0..<12).map { _ in LinuxFileSystem(limit: .seconds(50)) }
        let others = Self.exhaust()
        #expect(!others.isEmpty && open("/dev/null", O_RDONLY) == -1 && errno == EMFILE)
        for round in 1...10 {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, files) in systems.enumerated() {
              group.addTask {
                let contents = try await files.read(path, limit: 100, followsLink: false)
                #expect(String(decoding: contents.bytes, as: UTF8.self) == "token")
                _ = try await files.names(in: folder.path)
                let own = folder.file("\(round)-\(number)")
                try await files.createFile(own)
                try await files.write([1], to: own)
                try await files.syncFile(own)
              }
            }
            try await group.waitForAll()
          }
        }
        #expect(open("/dev/null", O_RDONLY) == -1, "they are spare ones again")
      }
    }
    Self.show(end)
  }

  @Test("a server that cannot accept takes no processor, and serves when it can")
  func accepting() async {
    let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      Self.limit(100, 100)
      try await Self.asInTheDaemon {
        try await serving { path, _ in
          try await onThread {
            let early = try RawClient(path: path)
            early.send(#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#)
            _ = try early.receive()
            // One of all that there are, for the client: the server has none to accept it with.
            var others = Self.exhaust()
            close(others.removeLast())
            let late = try RawClient(path: path)
            late.send(#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#)
            let (start, used) = (ContinuousClock.now, clock())
            try eventually("half a second is over") { ContinuousClock.now - start > .milliseconds(500) }
            #expect(clock() - used < 250_000, "in microseconds, of 500,000")
            early.send(#"{"jsonrpc":"2.0","id":3,"method":"echo"}"#)
            #expect(try early.receive()?["id"] == 3)
            for descriptor in others { close(descriptor) }
            #expect(try late.receive()?["id"] == 2)
          }
        }
      }
    }
    Self.show(end)
  }
}
