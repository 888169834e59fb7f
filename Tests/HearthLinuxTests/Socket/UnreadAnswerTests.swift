import Glibc
import HearthControl
import Synchronization
import TestSupport
import Testing

@testable import HearthLinux

@Suite("Answers that nobody reads are bounded over all connections", .timeLimit(.minutes(2))) struct UnreadAnswerTests {
  private static let big: JSONObject = ["size": 100_000]

  @Test("the connection with the most is closed, the others get all their answers, and the log tells of it once")
  func closesTheGreediest() async throws {
    var limits = ControlLimits()
    limits.totalBacklog = 3 << 20
    let handler = ScriptedHandler()
    let log = LogRecorder()
    try await serving(handler, limits: limits, log: log) { path, _ in
      let (modest, greedy) = try await onThread {
        let modest = try (0..<3).map { _ in try RawClient(path: path) }
        for client in modest {
          for id in 0..<5 { client.call(id, "big", Self.big) }
        }
        // Its calls pause at 1 MiB, but those that run already bring it to 3.
        let greedy = try RawClient(path: path)
        for id in 0..<32 { greedy.call(id, "big", Self.big) }
        return (modest, greedy)
      }
      await handler.until { $0.closed.count == 1 }
      try await onThread {
        #expect((try? greedy.receiveAll().count) ?? 0 < 32)
        for client in modest {
          let ids = try (0..<5).map { _ in try client.receive()?["id"]?.int }
          #expect(Set(ids) == Set(0..<5))
        }
      }
      var lines = log.stream.makeAsyncIterator()
      let line = try #require(await lines.next()).message
      #expect(line.hasSuffix("from user \(getuid()) (pid \(getpid()))."), "\(line)")
    }
  }

  @Test("the answers of an array count before it is complete")
  func arrays() async throws {
    var limits = ControlLimits()
    limits.totalBacklog = 1 << 20
    let handler = ScriptedHandler()
    try await serving(handler, limits: limits) { path, _ in
      try await onThread {
        let client = try RawClient(path: path)
        let calls = (0..<20).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"big","params":{"size":100000}}"# }
        client.send("[" + (calls + [#"{"jsonrpc":"2.0","id":99,"method":"wait"}"#]).joined(separator: ",") + "]")
        #expect(try client.receiveAll().isEmpty, "it is closed though nothing was written")
      }
      await handler.until { $0.waiting == 1 }
      handler.release()
    }
  }

  @Test("what is read at once counts nothing, however much it is")
  func readers() async throws {
    var limits = ControlLimits()
    limits.totalBacklog = 1 << 20
    try await calling(limits: limits) { (client) throws in
      for id in 0..<50 {
        client.call(id, "big", Self.big)
        #expect(try client.receive()?["id"]?.int == id)
      }
    }
  }

  @Test("the budget names the connection with the most once, and counts it no longer")
  func budget() {
    let drains = Atomic(0)
    let budget = OutputBudget(limit: 100) { drains.add(1, ordering: .relaxed) }
    let (first, second) = (ConnectionID(1), ConnectionID(2))
    #expect(budget.set(60, for: first) == nil)
    #expect(budget.set(30, for: second) == nil)
    let most = budget.set(45, for: second)
    #expect(most?.connection == first)
    #expect(most?.bytes == 60)
    #expect(budget.total == 45)
    #expect(budget.set(200, for: first) == nil, "it is being closed")
    #expect(budget.set(0, for: first) == nil)
    #expect(budget.set(0, for: second) == nil)
    #expect(budget.total == 0)
    #expect(drains.load(ordering: .relaxed) == 0, "so little is not worth it")
  }

  @Test("once most of a large peak is gone, memory is given back, once")
  func givesBack() {
    let drains = Atomic(0)
    let budget = OutputBudget(limit: 1 << 30) { drains.add(1, ordering: .relaxed) }
    for number in 1...4 { _ = budget.set(OutputBudget.largePeak / 2, for: ConnectionID(UInt64(number))) }
    for number in 1...4 {
      #expect(drains.load(ordering: .relaxed) == 0)
      _ = budget.set(0, for: ConnectionID(UInt64(number)))
    }
    #expect(drains.load(ordering: .relaxed) == 1)
    _ = budget.set(1000, for: ConnectionID(5))
    _ = budget.set(0, for: ConnectionID(5))
    #expect(drains.load(ordering: .relaxed) == 1)
  }
}
