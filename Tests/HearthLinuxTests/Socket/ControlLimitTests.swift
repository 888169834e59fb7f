import HearthControl
import HearthLinux
import TestSupport
import Testing

/// The limits of the contract's section 5 as the daemon has them, each reached and exceeded by one.
@Suite("The socket's limits", .timeLimit(.minutes(2)))
struct ControlLimitTests {
  @Test("are those of the contract")
  func contract() {
    let limits = ControlLimits(maximumBody: 3 << 20)
    #expect(limits.line == (1 << 20) + (4 << 20))
    #expect(limits.connections == 256)
    #expect(limits.runningCalls == 32)
    #expect(limits.lineTime == .seconds(10))
    #expect(Incoming.maximumBatch == 100)
  }

  @Test("A line of the limit is served; one byte more is -32700, and the end of the connection")
  func line() async throws {
    let limit = ControlLimits().line
    try await serving { path, _ in
      try await onThread {
        let frame = #"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":""}}"#.utf8.count
        for excess in 0...1 {
          let client = try RawClient(path: path)
          let text = String(repeating: "x", count: limit - frame + excess)
          client.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"\#(text)"}}"#)
          let received = try #require(try client.receive())
          if excess == 0 {
            #expect(received["result"]?["x"]?.string?.utf8.count == text.utf8.count)
          } else {
            #expect(received.errorCode == -32700 && received["id"] == .null)
            #expect(try client.receive() == nil)
          }
        }
      }
    }
  }

  @Test("A value nested 128 deep is served; one more is no JSON")
  func nesting() async throws {
    try await calling { (client) throws in
      for (depth, code) in [(126, nil), (127, -32700)] as [(Int, Int?)] {
        let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        client.send(#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":\#(nested)}}"#)
        #expect(try client.receive()?.errorCode == code, "\(depth)")
      }
    }
  }

  @Test("100 calls in an array are answered; 101 are -32600, and none of them is carried out")
  func batch() async throws {
    let handler = ScriptedHandler()
    try await calling(handler) { (client) throws in
      for count in [100, 101] {
        let calls = (0..<count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"echo"}"# }
        client.send("[" + calls.joined(separator: ",") + "]")
        let received = try #require(try client.receive())
        #expect(count == 100 ? received.array?.count == 100 : received.errorCode == -32600)
      }
    }
    #expect(handler.begun.count == 100)
  }

  @Test("256 connections are served; the next is told -32001 and closed, and the others go on")
  func connections() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, _ in
      try await onThread {
        let clients = try (0..<256).map { _ in try RawClient(path: path) }
        for client in clients {
          client.call(1, "echo")
          #expect(try client.receive() == answer(1, [:]))
        }
        #expect(try RawClient(path: path).receiveAll().map(\.errorCode) == [-32001])
        for client in clients {
          client.call(2, "echo")
          #expect(try client.receive() == answer(2, [:]))
        }
      }
    }
  }

  @Test("What is refused for them is told, so that it can be counted; what is handled is not")
  func refusals() async throws {
    var limits = ControlLimits()
    (limits.connections, limits.line) = (1, 200)
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      try await onThread {
        let client = try RawClient(path: path)
        client.call(1, "echo")
        #expect(try client.receive() == answer(1, [:]))
        #expect(try RawClient(path: path).receiveAll().map(\.errorCode) == [-32001])
        for line in ["nonsense", "[]", "7", String(repeating: " ", count: 201)] {
          client.send(line)
          _ = try client.receive()
        }
      }
    }
    #expect(handler.refused.map(\.code) == [-32001, -32700, -32600, -32600, -32700])
    #expect(handler.refused.allSatisfy { $0.method == nil })
  }

  @Test("A call that had not begun when the daemon ended is told with its method")
  func shuttingDown() async throws {
    let handler = ScriptedHandler()
    try await serving(handler) { path, server in
      let client = try await onThread { try RawClient(path: path) }
      client.call(1, "wait")
      await handler.until { $0.waiting == 1 }
      server.shutDown()
      try await onThread {
        // One that comes at the same moment may still be served.
        client.call(2, "echo")
        while let reply = try client.receive(), reply.errorCode != -32000 { client.call(2, "echo") }
      }
      handler.release()
    }
    #expect(handler.refused.first?.method == "echo")
    #expect(handler.refused.first?.code == -32000)
  }
}
