import Glibc
import HearthClient
import HearthControl
import HearthLinux
import Logging
import TestSupport
import Testing

/// How the server ends, and who else it serves.
@Suite(.timeLimit(.minutes(1))) struct ControlServerEndTests {
  @Test("on shutdown running calls end, new ones are answered -32000 at once, and idle connections stay until the end")
  func shutdown() async throws {
    let handler = ScriptedHandler()
    var limits = ControlLimits()
    // However busy the machine is, the grace is not what ends this.
    limits.shutdownGrace = .seconds(60)
    try await serving(handler, limits: limits) { path, server in
      let (client, subscriber) = try await onThread { (try RawClient(path: path), try RawClient(path: path)) }
      subscriber.call(1, "subscribe")
      #expect(try await onThread { try subscriber.receive() } == answer(1, "subscribed"))
      client.call(1, "wait")
      await handler.until { $0.waiting == 1 }
      server.shutDown()
      // One that comes at the same moment may still be served.
      for one in [client, subscriber] {
        try await onThread {
          one.call(2, "echo")
          while let reply = try one.receive(), reply.errorCode != -32000 { one.call(2, "echo") }
          one.call(3, "echo")
          #expect(try one.receive()?.errorCode == -32000)
        }
      }
      server.end()
      #expect(try await onThread { try subscriber.receiveAll() }.isEmpty)
      handler.release()
      #expect(try await onThread { try client.receiveAll() } == [answer(1, "released")])
    }
  }

  @Test("on shutdown calls that do not end are answered -32000 and cancelled when their grace is over, in a batch too")
  func shutdownGrace() async throws {
    var limits = ControlLimits()
    limits.shutdownGrace = .milliseconds(50)
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, server in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "stuck")
      await handler.until { $0.begun == ["stuck"] }
      client.send(#"[{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":3,"method":"stuck"}]"#)
      await handler.until { $0.begun.count == 3 }
      server.shutDown()
      let answers = try await onThread { try client.receiveAll() }
      #expect(answers.count == 2)
      #expect(answers.first?.errorCode == -32000 && answers.first?["id"] == 1)
      #expect(answers.last?[0] == answer(2, [:]) && answers.last?[1]?.errorCode == -32000)
      await handler.until { $0.cancelled == 2 }
    }
  }

  @Test("cancelled, the server ends with its calls and connections")
  func cancellation() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("rpc.sock")
    let handler = ScriptedHandler()
    let server = ControlServer(
      sockets: [try ListeningSocket(path: path)], handler: handler,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let (busy, idle) = try await onThread { (try RawClient(path: path), try RawClient(path: path)) }
      idle.call(1, "echo")
      #expect(try await onThread { try idle.receive() } == answer(1, [:]))
      busy.call(1, "stuck")
      await handler.until { $0.begun.contains("stuck") }
      group.cancelAll()
      try await group.waitForAll()
      #expect(handler.cancelled == 1)
      #expect(handler.closed.count == 2)
      #expect(try await onThread { try idle.receiveAll() }.isEmpty)
      #expect(try await onThread { try busy.receive() }?.errorCode == -32000)
    }
  }

  @Test("serves on a descriptor that was passed to it, and leaves its file alone")
  func passedDescriptor() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("rpc.sock")
    let socket = try ListeningSocket(path: path)
    let server = ControlServer(
      sockets: [ListeningSocket(passed: socket.descriptor)], handler: ScriptedHandler(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      try await onThread {
        let client = try RawClient(path: path)
        client.call(1, "echo")
        #expect(try client.receive() == answer(1, [:]))
      }
      server.shutDown()
      server.end()
      try await group.waitForAll()
    }
    #expect(access(path, F_OK) == 0)
  }

  @Test("the client of hearthctl calls, hears notifications in order, and checks whose the server is")
  func controlClient() async throws {
    var limits = ControlLimits()
    limits.shutdownGrace = .milliseconds(10)
    try await serving(limits: limits) { path, server in
      try await onThread {
        var client = try ControlClient(path: path)
        #expect(try client.call("echo", ["a": 1]) == ["a": 1])
        #expect(throws: ControlClient.Failure.refused(.methodNotFound("none"))) { try client.call("none") }
        _ = try client.call("subscribe", ["count": 2])
        // They come while another answer is awaited, and are kept.
        _ = try client.call("echo")
        #expect(try client.nextNotification()?.params["number"] == 0)
        #expect(try client.nextNotification()?.params["number"] == 1)
        let late = ControlClient.Failure.timedOut(after: .milliseconds(10))
        #expect(throws: late) { try client.nextNotification(within: .milliseconds(10)) }
        #expect(throws: late) { try client.call("stuck", within: .milliseconds(10)) }
      }
      #expect(throws: ControlClient.Failure.foreignServer(path: path, user: getuid())) {
        _ = try ControlClient(path: path, user: getuid() + 1)
      }
    }
    #expect(throws: ControlClient.Failure.noDaemon(path: "/nowhere/rpc.sock")) {
      _ = try ControlClient(path: "/nowhere/rpc.sock")
    }
  }
}
