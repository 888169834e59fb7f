import Glibc
import HearthControl
import TestSupport
import Testing

/// Part of `make torture`: to encode more than the daemon holds takes a debug build minutes beside other tests. That the
/// bound holds is tested in each run, on the server alone (HearthLinuxTests).
@Suite(
  "Clients that do not read", .serialized, .mayBlock,
  .enabled(if: Torture.isAsked(for: SiegeRun.seconds), "make torture runs it"))
struct UnreadAnswerTests {
  @Test("they take a bounded part of the daemon's memory, and it is given back")
  func bounded() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      let pid = try #require(daemon.process?.pid)
      // Items that wait, so that a list of them is long.
      let item = JSON.object(
        daemon.draft(
          "x", to: sandbox.notes + String(repeating: "x", count: 1500), ["notBefore": "2999-01-01T00:00:00Z"]))
      for _ in 0..<2 { try daemon.call("outbox.enqueueMany", ["items": .array(Array(repeating: item, count: 100))]) }
      let answer = try daemon.call("outbox.list", ["limit": 200]).description.utf8.count
      #expect(answer > 100_000)
      let before = Self.memory(of: pid)
      let clients = try (0..<12).map { _ in try RawClient(path: daemon.socket) }
      for client in clients {
        for id in 0..<32 { client.call(id, "outbox.list", ["limit": 200]) }
      }
      // They ask for more than the daemon would hold: it closes some of them, which they notice when they read.
      #expect(clients.count * 32 * answer > 96 << 20)
      var peak = 0
      try eventually("some were closed", while: { peak }) {
        peak = max(peak, Self.memory(of: pid))
        return daemon.process?.errors.contains("most unread responses") == true
      }
      // This is answered once the calls before it are, for they begin in the order in which they came.
      try daemon.call("outbox.getStats")
      peak = max(peak, Self.memory(of: pid))
      clients.forEach { $0.close() }
      #expect(peak - before < 128 << 10, "\(before) KiB, then \(peak) KiB")
      try eventually("the memory is given back", while: { Self.memory(of: pid) }) {
        Self.memory(of: pid) < before + (48 << 10)
      }
      let lines = daemon.process?.errors.split(separator: "\n").filter { $0.contains("most unread responses") } ?? []
      #expect(lines.count == 1, "the others are told of together, after a minute")
    }
  }

  /// Anonymous memory in KiB (proc_pid_status(5)).
  private static func memory(of pid: pid_t) -> Int {
    let line = Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
  }
}
