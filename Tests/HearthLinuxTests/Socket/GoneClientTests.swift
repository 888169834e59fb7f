import HearthControl
import HearthLinux
import TestSupport
import Testing

@Suite("A client that has left", .timeLimit(.minutes(1)))
struct GoneClientTests {
  @Test("has what it asked to change still changed, and of the rest nothing that had not begun")
  func calls() async throws {
    var limits = ControlLimits()
    (limits.runningCalls, limits.connections) = (1, 1)
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "wait")
      await handler.until { $0.waiting == 1 }
      try await onThread {
        client.call(2, "look")
        client.call(3, "echo")
        client.send(
          #"[{"jsonrpc":"2.0","id":4,"method":"look"},{"jsonrpc":"2.0","id":5,"method":"echo"},"#
            + #"{"jsonrpc":"2.0","method":"look"}]"#)
        client.call(6, "look")
        client.close()
        // There is room for another once the server knows.
        while true {
          let other = try RawClient(path: path)
          other.call(1, "get_data")
          if try other.receive() == answer(1, ["hello", 5]) { break }
        }
      }
      let gone = try #require(handler.opened.first)
      handler.release()
      await handler.until { $0.closed.contains(gone) }
      #expect(handler.begun.filter { $0 != "get_data" } == ["wait", "echo", "echo"])
    }
  }

  @Test("is told of while its calls still run, and once")
  func told() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "wait")
      await handler.until { $0.waiting == 1 }
      #expect(handler.lost.isEmpty)
      client.close()
      await handler.until { $0.lost.count == 1 }
      #expect(handler.lost == handler.opened && handler.closed.isEmpty)
      handler.release()
      await handler.until { $0.closed == $0.opened }
      #expect(handler.lost.count == 1)
    }
  }

  @Test("at once after its call has had it carried out")
  func quick() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      try await onThread {
        for _ in 0..<500 {
          let client = try RawClient(path: path)
          client.call(1, "echo")
          client.close()
        }
      }
      await handler.until { $0.begun.count == 500 }
    }
  }

  @Test("and has only said its last, gets every answer")
  func halfClosed() async throws {
    var limits = ControlLimits()
    limits.runningCalls = 1
    try await calling(limits: limits) { (client) throws in
      for id in 0..<20 { client.call(id, "look") }
      client.endInput()
      #expect(try client.receiveAll().map { $0["id"]?.int } == Array(0..<20))
    }
  }
}
