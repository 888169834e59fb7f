import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HearthLinux

@Suite("What other users can cause in the log is bounded", .timeLimit(.minutes(1))) struct RejectionLogTests {
  @Test("Of many connections of another user the first is told, and the others as one")
  func otherUsers() async throws {
    let log = LogRecorder()
    // Just before the minute is over, so that the second line need not be waited for.
    let looks = Atomic<Int>(0)
    let elapsed: @Sendable () -> Duration = {
      looks.add(1, ordering: .relaxed).newValue == 1 ? .zero : ThrottledWarning.interval - .milliseconds(1)
    }
    try await serving(user: getuid() + 1, log: log, elapsed: elapsed) { path, _ in
      try await onThread {
        for _ in 0..<20 {
          let answers = try RawClient(path: path).receiveAll()
          #expect(answers.isEmpty)
        }
      }
      var lines = log.stream.makeAsyncIterator()
      let peer = "user \(getuid()) (pid \(getpid()))"
      let first = "Rejected a connection from \(peer), because only user \(getuid() + 1) can connect."
      #expect(await lines.next()?.message == first)
      let second = try #require(await lines.next()).message
      #expect(second.hasPrefix("Rejected ") && second.contains(" more connection"))
      #expect(second.hasSuffix(" from other users. The last one was from \(peer)."))
    }
  }
}
