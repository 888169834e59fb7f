import Glibc
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthLinux

@Suite("What strangers can cause in the log is bounded", .timeLimit(.minutes(1))) struct StrangerLogTests {
  private final class Lines: LogHandler, Sendable {
    let lines: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation

    init() { (lines, feed) = AsyncStream.makeStream() }

    func log(event: LogEvent) { feed.yield("\(event.message)") }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    var logLevel: Logger.Level {
      get { .trace }
      set {}
    }
  }

  @Test("The first is written, those of the minute after it are counted, and their number is written when it is over")
  func bound() {
    var bound = LineBound()
    // The last one comes when somebody is late to ask.
    var verdicts = [5, 6, 7, 66].map { bound.happened(at: .seconds($0)) }
    #expect(verdicts == [.write, .countUntil(.seconds(65)), .count, .count])
    var count = bound.due(at: .seconds(66))
    #expect(count == 3)
    verdicts = [67, 68].map { bound.happened(at: .seconds($0)) }
    #expect(verdicts == [.countUntil(.seconds(126)), .count], "one line a minute, for as long as it lasts")
    count = bound.due(at: .seconds(126))
    #expect(count == 2)
    verdicts = [186].map { bound.happened(at: .seconds($0)) }
    #expect(verdicts == [.write])
  }

  @Test("Of many connections of another user the first is told, and the others as one")
  func strangers() async throws {
    let log = Lines()
    // Just before the minute is over, so that the second line need not be waited for.
    let looks = Atomic<Int>(0)
    let elapsed: @Sendable () -> Duration = {
      looks.add(1, ordering: .relaxed).newValue == 1 ? .zero : LineBound.interval - .milliseconds(1)
    }
    try await serving(user: getuid() + 1, log: log, elapsed: elapsed) { path, _ in
      try await onThread {
        for _ in 0..<20 {
          let answers = try RawClient(path: path).receiveAll()
          #expect(answers.isEmpty)
        }
      }
      var lines = log.lines.makeAsyncIterator()
      #expect(await lines.next() == "A process of user \(getuid()) (pid \(getpid())) was turned away.")
      let second = try #require(await lines.next())
      #expect(second.hasPrefix("Processes of other users were turned away "))
      #expect(second.hasSuffix("; the last was of user \(getuid()) (pid \(getpid()))."))
    }
  }
}
