import Glibc
import HearthControl
import HearthLinux
import Logging
import TestSupport
import Testing

/// A server in a folder of its own, for the length of `body`; then it is shut down and has to end.
func serving(
  _ handler: ScriptedHandler = ScriptedHandler(), limits: ControlLimits = ControlLimits(), user: UInt32 = getuid(),
  log: any LogHandler = SwiftLogNoOpLogHandler(), elapsed: (@Sendable () -> Duration)? = nil,
  _ body: @Sendable (_ path: String, _ server: ControlServer) async throws -> Void
) async throws {
  let folder = TemporaryFolder()
  let path = folder.file("rpc.sock")
  let server = ControlServer(
    sockets: [try ListeningSocket(path: path)], handler: handler, limits: limits, user: user,
    logger: Logger(label: "test") { _ in log }, elapsed: elapsed ?? ControlServer.uptime)
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await server.run() }
    func finish() {
      server.shutDown()
      server.end()
    }
    defer { finish() }
    try await body(path, server)
    finish()
    try await group.waitForAll()
  }
  #expect(access(path, F_OK) != 0, "the socket's file was left behind")
}

/// A client of such a server, on its own thread.
func calling(
  _ handler: ScriptedHandler = ScriptedHandler(), limits: ControlLimits = ControlLimits(),
  _ body: @escaping @Sendable (RawClient) throws -> Void
) async throws {
  try await serving(handler, limits: limits) { path, _ in
    try await onThread { try body(try RawClient(path: path)) }
  }
}

func answer(_ id: JSON, _ result: JSON) -> JSON {
  ["jsonrpc": "2.0", "id": id, "result": result]
}

extension JSON {
  var errorCode: Int? { self["error"]?["code"]?.int }
}

@Suite(.timeLimit(.minutes(1))) struct ControlServerTests {
  @Test("answers calls, gives ids back as they came, and is silent about notifications")
  func answers() async throws {
    try await calling { (client) throws in
      client.send(#"{"jsonrpc":"2.0","method":"echo","params":{"n":1}}"#)
      client.send(#"{"jsonrpc":"2.0","id":1.50,"method":"echo","params":{"b":1,"a":2}}"#)
      let first = try #require(try client.receive())
      #expect(first.description == #"{"jsonrpc":"2.0","id":1.50,"result":{"b":1,"a":2}}"#)
      client.send(#"{"jsonrpc":"2.0","id":null,"method":"nothing"}"#)
      let second = try #require(try client.receive())
      #expect(second["id"] == .null)
      #expect(second.errorCode == -32601)
    }
  }

  @Test("answers a batch by one array in the order of its calls, and one of notifications not at all")
  func batches() async throws {
    try await calling { (client) throws in
      client.send(#"[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"none"}]"#)
      client.send(
        #"[{"jsonrpc":"2.0","id":1,"method":"echo"},7,{"jsonrpc":"2.0","method":"echo"},"#
          + #"{"jsonrpc":"2.0","id":2,"method":"echo","params":[]}]"#)
      let answers = try #require(try client.receive()?.array)
      #expect(answers.count == 3)
      #expect(answers[0] == answer(1, [:]))
      #expect(answers[1]["id"] == .null)
      #expect(answers[1].errorCode == -32600)
      #expect(answers[2]["id"] == 2)
      #expect(answers[2].errorCode == -32602)
      client.send("[]")
      let refusal = try #require(try client.receive())
      #expect(refusal.errorCode == -32600)
      #expect(refusal["id"] == .null)
    }
  }

  @Test("a hundred calls in a batch run 32 at a time and are all answered")
  func largeBatch() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.send(
        "[" + (0..<100).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"wait"}"# }.joined(separator: ",") + "]")
      for _ in 0..<100 {
        await handler.until { $0.waiting > 0 }
        handler.release()
      }
      let answers = try await onThread { try client.receive() }
      #expect(answers?.array?.map { $0["id"]?.int } == Array(0..<100))
      #expect(handler.mostRunning <= 32)
    }
  }

  @Test("calls of one connection run at once and are answered as they end")
  func concurrency() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "wait")
      await handler.until { $0.waiting == 1 }
      client.call(2, "echo")
      #expect(try await onThread { try client.receive() } == answer(2, [:]))
      handler.release()
      #expect(try await onThread { try client.receive() } == answer(1, "released"))
    }
  }

  @Test("runs 32 calls of a connection at once; more wait, and other connections do not")
  func limitsRunningCalls() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let (client, other) = try await onThread { (try RawClient(path: path), try RawClient(path: path)) }
      for id in 0..<40 { client.call(id, "wait") }
      client.call(40, "echo")
      await handler.until { $0.waiting == 32 }
      other.call(1, "echo")
      #expect(try await onThread { try other.receive() } == answer(1, [:]))
      #expect(handler.begun.count == 33)
      for _ in 0..<40 {
        await handler.until { $0.waiting > 0 }
        handler.release()
      }
      let ids = try await onThread { try (0..<41).map { _ in try client.receive()?["id"]?.int } }
      #expect(Set(ids) == Set(0..<41))
      #expect(handler.mostRunning <= 33)
    }
  }

  @Test("a line that is not JSON is answered -32700 with id null, and the connection goes on")
  func noJSON() async throws {
    try await calling { (client) throws in
      for line in ["", "{", "\u{7F}"] {
        client.send(line)
        let refusal = try #require(try client.receive())
        #expect(refusal.errorCode == -32700)
        #expect(refusal["id"] == .null)
      }
      client.call(1, "echo")
      #expect(try client.receive() == answer(1, [:]))
    }
  }

  @Test("a line that is too long is answered -32700 and closes, once what was asked before is answered")
  func tooLong() async throws {
    var limits = ControlLimits()
    limits.line = 1000
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "echo", ["x": .string(String(repeating: "x", count: 900))])
      #expect(try await onThread { try client.receive()?["id"] } == 1)
      client.call(2, "wait")
      await handler.until { $0.waiting == 1 }
      try await onThread { client.send(String(repeating: "x", count: 1001)) }
      #expect(try await onThread { try client.receive()?.errorCode } == -32700)
      handler.release()
      #expect(try await onThread { try client.receiveAll() } == [answer(2, "released")])
    }
  }

  @Test("a line that is begun has to be finished in time, however slowly it comes")
  func lineTime() async throws {
    var limits = ControlLimits()
    limits.lineTime = .milliseconds(200)
    try await calling(limits: limits) { (client) throws in
      client.call(1, "echo")
      #expect(try client.receive() == answer(1, [:]))
      client.send(raw: "{")
      while client.send(raw: " ") {}
      let refusal = try #require(try client.receiveAll().last)
      #expect(refusal.errorCode == -32700)
      #expect(refusal["id"] == .null)
    }
  }

  @Test("a connection with no line begun may be idle for longer than that")
  func idle() async throws {
    var limits = ControlLimits()
    limits.lineTime = .milliseconds(20)
    try await serving(limits: limits) { path, _ in
      try await onThread {
        let idle = try RawClient(path: path)
        idle.call(1, "echo")
        #expect(try idle.receive() == answer(1, [:]))
        // The time is over when this one is told so.
        let clock = try RawClient(path: path)
        clock.send(raw: "{")
        #expect(try clock.receive()?.errorCode == -32700)
        idle.call(2, "echo")
        #expect(try idle.receive() == answer(2, [:]))
      }
    }
  }

  @Test(
    "one connection too many is told -32001 and closed; when another ends there is room, though its call still runs")
  func limitsConnections() async throws {
    var limits = ControlLimits()
    limits.connections = 2
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      let clients = try await onThread { try (0..<2).map { _ in try RawClient(path: path) } }
      try await onThread {
        for client in clients {
          client.call(1, "echo")
          #expect(try client.receive() == answer(1, [:]))
        }
        let third = try RawClient(path: path)
        let lines = try third.receiveAll()
        #expect(lines.map(\.errorCode) == [-32001])
        #expect(lines.first?["id"] == .null)
        clients[0].call(2, "wait")
      }
      await handler.until { $0.waiting == 1 }
      // The slot is free a moment after the client has gone.
      try await onThread {
        clients[0].close()
        while true {
          let client = try RawClient(path: path)
          client.call(1, "echo")
          if try client.receive() == answer(1, [:]) { break }
        }
      }
      #expect(!handler.closed.contains(try #require(handler.opened.first)))
      handler.release()
    }
  }

  @Test("limits that change count for the connections that are open, too")
  func changesLimits() async throws {
    var limits = ControlLimits()
    limits.line = 100
    try await serving(limits: limits) { path, server in
      let text = JSON.string(String(repeating: "x", count: 1000))
      let client = try await onThread { try RawClient(path: path) }
      server.change(ControlLimits())
      try await onThread {
        // What comes from now on is read after the change, which is carried out on the connection's event loop.
        client.call(0, "echo")
        #expect(try client.receive() == answer(0, [:]))
        for client in [client, try RawClient(path: path)] {
          client.call(1, "echo", ["x": text])
          #expect(try client.receive() == answer(1, ["x": text]))
        }
      }
    }
  }

  @Test("another user's process is turned away without a word")
  func otherUser() async throws {
    let handler = ScriptedHandler()
    try await serving(handler, user: getuid() + 1) { path, _ in
      try await onThread {
        let client = try RawClient(path: path)
        client.call(1, "echo")
        #expect(try client.receiveAll().isEmpty)
      }
    }
    #expect(handler.begun.isEmpty)
  }

  @Test("the answer of a subscription comes before its first notification, alone and in a batch")
  func ordering() async throws {
    try await calling { (client) throws in
      for id in 0..<50 {
        client.call(id, "subscribe", ["count": 3])
        #expect(try client.receive() == answer(JSON(id), "subscribed"))
        for number in 0..<3 { #expect(try client.receive()?["params"]?["number"]?.int == number) }
      }
      client.send(
        #"[{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"count":1}},"#
          + #"{"jsonrpc":"2.0","id":2,"method":"echo"}]"#)
      #expect(try client.receive()?.array?.count == 2)
      #expect(try client.receive()?["method"] == "told")
    }
  }

  @Test("a reader that does not read delays nobody, and its sink counts what it has not taken")
  func slowReader() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let (slow, quick) = try await onThread { (try RawClient(path: path), try RawClient(path: path)) }
      slow.call(1, "subscribe", ["count": 60, "size": 10_000])
      await handler.until { $0.started == 1 }
      try await onThread { () throws in
        quick.call(2, "echo")
        #expect(try quick.receive() == answer(2, [:]))
      }
      try await onThread { () throws in
        // The quick one may be served on another event loop, before the slow one is written to.
        try eventually("the slow one is behind") { handler.sinks[0].pending > 0 }
        #expect(try slow.receive() == answer(1, "subscribed"))
        for number in 0..<60 { #expect(try slow.receive()?["params"]?["number"]?.int == number) }
        // By the time this is answered, all before it has been taken.
        slow.call(3, "echo")
        #expect(try slow.receive() == answer(3, [:]))
      }
      #expect(handler.sinks[0].pending == 0)
    }
  }

  @Test("a reader too far behind is left, and its sink stays full")
  func leavesReader() async throws {
    var limits = ControlLimits()
    limits.maximumBacklog = 1 << 17
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      let slow = try await onThread { try RawClient(path: path) }
      slow.call(1, "subscribe", ["count": 200, "size": 4096])
      await handler.until { $0.closed.count == 1 }
      #expect(handler.sinks[0].pending > 0)
      let lines = try await onThread { try? slow.receiveAll() }
      #expect((lines?.count ?? 0) < 200)
    }
  }

  @Test("a client that asks and does not read gets no further calls begun, and all its answers in the end")
  func backpressure() async throws {
    var limits = ControlLimits()
    limits.pausingBacklog = 1 << 14
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      for id in 0..<200 { client.call(id, "big", ["size": 10_000]) }
      // The first have filled the way back; this one takes no part in that, and is served.
      try await onThread {
        let other = try RawClient(path: path)
        other.call(1, "echo")
        #expect(try other.receive() == answer(1, [:]))
      }
      #expect(handler.begun.count < 200)
      let answers = try await onThread { try (0..<200).map { _ in try client.receive()?["id"]?.int } }
      #expect(Set(answers) == Set(0..<200))
    }
  }

  @Test("a client that has said its last still gets its answers, then the end")
  func halfClosed() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "wait")
      client.call(2, "echo")
      client.endInput()
      #expect(try await onThread { try client.receive() } == answer(2, [:]))
      await handler.until { $0.waiting == 1 }
      handler.release()
      #expect(try await onThread { try client.receiveAll() } == [answer(1, "released")])
    }
  }

  @Test("what a client asked before it went away is still done; the handler is told after the last call")
  func goneClient() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      try await onThread {
        let client = try RawClient(path: path)
        client.send(#"{"jsonrpc":"2.0","method":"wait"}"#)
        client.send(#"{"jsonrpc":"2.0","method":"echo"}"#)
        client.close()
      }
      await handler.until { $0.begun.sorted() == ["echo", "wait"] && $0.waiting == 1 }
      #expect(handler.opened.count == 1 && handler.closed.isEmpty)
      handler.release()
      await handler.until { $0.closed.count == 1 }
      #expect(handler.opened == handler.closed)
      #expect(handler.cancelled == 0)
    }
  }
}
