import HearthClient
import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

@Suite struct BegunCallTests {
  @Test("the response to a call that has begun is kept while notifications are waited for")
  func kept() async throws {
    let daemon = FakeDaemon { _ in
      .stream(["sessions": []], [Notification(.daemonReloaded, params: [:])])
    }
    let (event, sessions) = try await onThread {
      var client = try ControlClient(path: daemon.path)
      let call = try client.begin(ListSessions())
      let event = try client.nextNotification()?.event
      return (event, try client.response(to: call, within: .generous)?.value.sessions.count)
    }
    #expect(event == .daemonReloaded)
    #expect(sessions == 0)
    #expect(daemon.asked.count == 1)
  }

  @Test("calls that are sent at once have each its own result, in whatever order the responses come")
  func each() async throws {
    let late = Mutex<[UInt8]>([])
    // Each second one is answered before the one before it.
    let daemon = FakeDaemon { request in
      let number = request.params["account"]?.string.flatMap { Int($0.dropFirst()) } ?? 0
      var stats = OutboxStats()
      stats.dead = number
      let outcome: Result<JSON, RPCError> = number == 3 ? .failure(.unknownAccount("a3")) : .success(stats.json)
      let line = Response(id: request.id ?? .null, outcome: outcome).line
      return late.withLock { late in
        defer { late = line }
        return number.isMultiple(of: 2) ? .silence : .bytes(line + late)
      }
    }
    let results = try await onThread {
      var client = try ControlClient(path: daemon.path)
      return try client.call(each: (0..<300).map { GetOutboxStats(AccountName("a\($0)")) })
    }
    #expect(results.count == 300)
    #expect(daemon.asked.count == 300)
    for (number, result) in results.enumerated() {
      if number == 3 {
        #expect(throws: RPCError.self) { try result.get() }
      } else {
        #expect(try result.get().dead == number)
      }
    }
  }
}
