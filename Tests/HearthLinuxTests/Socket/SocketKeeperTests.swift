import Glibc
import HearthControl
import HearthCore
import HearthLinux
import TestSupport
import Testing

@Suite("A socket that was removed", .timeLimit(.minutes(1)))
struct SocketKeeperTests {
  private let folder = TemporaryFolder()
  private let log = LogRecorder()
  private let watch = SilentWatch()
  private let clock = ManualClock()
  private let troubles = SocketTroubles()
  private var path: String { folder.file("run/rpc.sock") }

  /// Serves while the sockets are kept in their places.
  private func keeping(_ socket: ListeningSocket, _ body: () async throws -> Void) async throws {
    let server = ControlServer(sockets: [socket], handler: ScriptedHandler(), logger: log.logger)
    let keeper = SocketKeeper(server, troubles: troubles, watch: watch, clock: clock, logger: log.logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask { await keeper.run() }
      func finish() {
        group.cancelAll()
        server.shutDown()
        server.end()
      }
      defer { finish() }
      while watch.paths.isEmpty { await Task.yield() }
      try await body()
      finish()
      try await group.waitForAll()
    }
  }

  /// Something has happened at the path, and the time until it is looked at goes by.
  private func look() async {
    watch.hint()
    await wait(.seconds(3))
  }

  private func wait(_ duration: Duration) async {
    await clock.waitForSleeper(until: clock.now() + duration)
    clock.advance(by: duration)
  }

  private func expectServed() async throws {
    let path = path
    try await onThread {
      let client = try eventually("it is there") { try? RawClient(path: path) }
      client.call(1, "echo")
      #expect(try client.receive() == answer(1, [:]))
    }
  }

  private func said(_ words: String) -> Int { log.records.filter { $0.message.contains(words) }.count }

  @Test("with its folder is there again, as often as that happens; who is connected stays so")
  func own() async throws {
    try await keeping(try ListeningSocket(path: path)) {
      let path = path
      let early = try await onThread { try RawClient(path: path) }
      for count in 1...2 {
        Files.removeTree(folder.file("run"))
        await look()
        try await expectServed()
        while said("created it again") < count { await Task.yield() }
      }
      #expect(Files.mode(folder.file("run")).map { $0 & 0o777 } == 0o700)
      try await onThread {
        early.call(1, "echo")
        let answered = try early.receive()
        #expect(answered == answer(1, [:]))
      }
      #expect(troubles.sentences == [])
    }
    #expect(!Files.exists(path), "the last one's file goes with it")
  }

  @Test("and is in its place is left as it is")
  func inPlace() async throws {
    let socket = try ListeningSocket(path: path)
    try await keeping(socket) {
      await look()
      // The next look is over when there is one more.
      await look()
      #expect(socket.isInPlace && log.records.isEmpty)
    }
  }

  @Test(
    "of the service manager's is listened at by Hearth itself, also if it was gone at the start",
    arguments: [true, false])
  func passed(isGoneAtTheStart: Bool) async throws {
    let managers = try ListeningSocket(path: path)
    if isGoneAtTheStart { Files.removeTree(folder.file("run")) }
    let passed = ListeningSocket(passed: managers.descriptor)
    #expect(passed.isInPlace != isGoneAtTheStart)
    try await keeping(passed) {
      Files.removeTree(folder.file("run"))
      await look()
      try await expectServed()
      while troubles.sentences.isEmpty { await Task.yield() }
      #expect(troubles.sentences.count == 1 && troubles.sentences[0].contains("restart hearthd.socket"))
      #expect(said("restart hearthd.socket") == 1)
    }
  }

  @Test("and cannot be put back is said once, tried again after 10 s, and there once that is possible")
  func inTheWay() async throws {
    try await keeping(try ListeningSocket(path: path)) {
      try Files.remove(path)
      try Files.write("mine", to: path)
      await look()
      await wait(.seconds(10))
      await clock.waitForSleeper(until: clock.now() + .seconds(10))
      #expect(troubles.sentences.count == 1 && troubles.sentences[0].contains("is not a socket"))
      #expect(said("is not a socket") == 1 && Files.text(path) == "mine")
      try Files.remove(path)
      await wait(.seconds(10))
      try await expectServed()
      while !troubles.sentences.isEmpty { await Task.yield() }
    }
  }
}
