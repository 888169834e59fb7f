import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthClient

/// What the client makes of daemons that do not behave.
@Suite("Calls of HearthClient") struct ConversationTests {
  private let folder = TemporaryFolder()
  private static let info = DaemonInfo(pid: 1, startedAt: .init(seconds: 0), paths: []).json

  private func daemon(_ answer: @escaping @Sendable (Request) -> FakeDaemon.Answer) -> FakeDaemon {
    FakeDaemon(path: folder.file("s")) { request in
      request.method == "daemon.getInfo" ? .result(Self.info) : answer(request)
    }
  }

  private func failure(_ body: () async throws -> Void) async -> HearthClient.Failure? {
    do {
      try await body()
      return nil
    } catch {
      return error as? HearthClient.Failure
    }
  }

  @Test("no daemon is told at once, in one sentence")
  func noDaemon() async throws {
    let failure = await failure { _ = try await HearthClient.connect(socket: folder.file("s")) }
    #expect(failure?.kind == .noDaemon)
    #expect(failure?.isRetryable == true)
    #expect(failure?.description.contains(folder.file("s")) == true)
  }

  @Test("the daemon's refusal keeps its code, its sentence, and what it knows of another try")
  func refusal() async throws {
    let refusal = RPCError(
      .refreshUnavailable, account: AccountName("work"), message: "The provider does not answer.",
      retryAfterSeconds: 7)
    let daemon = daemon { _ in .error(refusal) }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    let failure = await failure { _ = try await hearth.token(for: "work") }
    #expect(failure?.kind == .refreshUnavailable)
    #expect(failure?.code == 1004)
    #expect(failure?.description == "The provider does not answer.")
    #expect(failure?.isRetryable == true)
    #expect(failure?.account == "work")
    #expect(failure?.retryAfter == .seconds(7))
  }

  @Test("each error of the contract has a kind of its own", arguments: RPCError.Kind.allCases)
  func kinds(_ kind: RPCError.Kind) async throws {
    #expect(HearthClient.Failure.Kind(rawValue: kind.rawValue) != nil)
  }

  @Test("a daemon that does not answer costs the call its timeout, and no other call anything")
  func unresponsive() async throws {
    let daemon = daemon { request in request.method == "session.list" ? .result(["sessions": []]) : .silence }
    let hearth = try await HearthClient.connect(socket: daemon.path, timeout: .seconds(5))
    async let lost = failure { _ = try await hearth.status(of: "work") }
    #expect(try await hearth.sessions().isEmpty)
    let late = await lost
    #expect(late?.kind == .timedOut)
    #expect(late?.description.contains("--timeout") == false, "a program has no such option")
    #expect(try await hearth.sessions().isEmpty)
  }

  @Test("a daemon that is busy writing long answers reads none of the long calls behind them, and all are answered")
  func longCalls() async throws {
    let text = JSON.string(String(repeating: "x", count: 1 << 20))
    let daemon = daemon { _ in .result(["text": text]) }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    let parameters = JSON.object(["text": text]).description
    try await withThrowingTaskGroup(of: String.self) { calls in
      for _ in 1...4 { calls.addTask { try await hearth.call("long", json: parameters) } }
      for try await answer in calls { #expect(answer == parameters) }
    }
  }

  @Test("the time that the API is given comes on top of the client's timeout")
  func apiTime() async throws {
    let daemon = daemon { _ in .silence }
    let hearth = try await HearthClient.connect(socket: daemon.path, timeout: .seconds(1))
    let request = HearthClient.Request("GET", "https://api.example.com/slow")
    let before = ContinuousClock.now
    let failure = await failure { _ = try await hearth.send(request, for: "work", timeout: .seconds(1)) }
    #expect(failure?.kind == .timedOut)
    #expect(ContinuousClock.now - before >= .seconds(2))
  }

  @Test("a call whose time is up before it is sent costs no other call anything")
  func late() async throws {
    let daemon = daemon { _ in .result(["sessions": []]) }
    let line = CallLine(path: daemon.path, connecting: .generous)
    defer { line.close() }
    await #expect(throws: ControlClient.Failure.timedOut(after: .zero)) {
      try await line.call("session.list", [:], within: .zero)
    }
    #expect(try await line.call("session.list", [:], within: .generous) == ["sessions": []])
    #expect(daemon.asked.map(\.method) == ["session.list"])
  }

  @Test("garbage is said to be garbage, and the next call has a new connection")
  func garbage() async throws {
    let daemon = daemon { request in
      request.method == "session.list" ? .result(["sessions": []]) : .bytes(Array("HTTP/1.1 200 OK\r\n".utf8))
    }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    #expect(await failure { _ = try await hearth.status(of: "work") }?.kind == .notUnderstood)
    #expect(try await hearth.sessions().isEmpty)
  }

  @Test("a result of another form is not understood")
  func otherForm() async throws {
    let daemon = daemon { _ in .result(["unheardOf": 1]) }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    #expect(await failure { _ = try await hearth.status(of: "work") }?.kind == .notUnderstood)
  }

  @Test("a call that was cut off is repeated where it only reads, once, and never where it writes")
  func repeats() async throws {
    let daemon = daemon { _ in .hangUp }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    #expect(await failure { _ = try await hearth.sessions() }?.kind == .disconnected)
    #expect(daemon.asked.count { $0.method == "session.list" } == 2)
    let request = HearthClient.Request("POST", "https://api.example.com/notes")
    #expect(await failure { _ = try await hearth.enqueue(request, for: "work") }?.kind == .disconnected)
    #expect(daemon.asked.count { $0.method == "outbox.enqueue" } == 1)
    #expect(
      await failure { _ = try await hearth.enqueue(request, for: "work", idempotencyKey: "k") }?.kind == .disconnected)
    #expect(daemon.asked.count { $0.method == "outbox.enqueue" } == 3)
  }

  @Test("a call that finds the connection closed was not sent, and has a new connection even where it writes")
  func unsent() async throws {
    let goesOn = Mutex(false)
    let daemon = daemon { request in
      if request.method == "hang.up" { return .hangUp }
      if request.method == "hold" { try? eventually("the test goes on") { goesOn.withLock(\.self) } }
      return .result([:])
    }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    // More than the socket takes without a reader. A call begins at once, so that the calls are sent in this order.
    let text = JSON.object(["text": .string(String(repeating: "x", count: 1 << 20))]).description
    let held = Task.immediate { try await hearth.call("hold") }
    try await onThread {
      try eventually("the daemon is asked") { daemon.asked.contains { $0.method == "hold" } }
    }
    let last = Task.immediate { try await hearth.call("hang.up", json: text) }
    let cutOff = Task.immediate { try await hearth.call("long", json: text) }
    let unsent = Task.immediate { try await hearth.call("write") }
    goesOn.withLock { $0 = true }
    #expect(try await held.value == "{}")
    #expect(await failure { _ = try await last.value }?.kind == .disconnected)
    #expect(try await unsent.value == "{}")
    #expect(daemon.asked.count { $0.method == "write" } == 1)
    _ = await cutOff.result
  }

  @Test("a cancelled call ends at once, though no answer comes")
  func cancelled() async throws {
    let daemon = daemon { request in request.method == "session.list" ? .result(["sessions": []]) : .silence }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    let isCancelled = try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { _ = try await hearth.status(of: "work") }
      try await onThread {
        try eventually("the daemon is asked") { daemon.asked.contains { $0.method == "session.get" } }
      }
      group.cancelAll()
      do {
        try await group.waitForAll()
        return false
      } catch is CancellationError {
        return true
      }
    }
    #expect(isCancelled)
    #expect(try await hearth.sessions().isEmpty)
  }

  @Test("a name that no account can have is refused as the daemon would refuse it")
  func badName() async throws {
    let daemon = daemon { _ in .silence }
    let hearth = try await HearthClient.connect(socket: daemon.path)
    let failure = await failure { _ = try await hearth.status(of: "../x") }
    #expect(failure?.kind == .unknownAccount)
    #expect(failure?.code == 1005)
  }
}
