import Logging
import Synchronization
import Testing

@testable import HearthLinux

@Suite("What others can make the daemon log is bounded") struct LogBoundTests {
  /// A log with a clock that a test moves, and reports that a test sets off.
  private final class Bench: Sendable {
    let lines = Mutex<[[String: String]]>([])
    let now = Mutex(Duration.zero)
    let planned = Mutex<[(delay: Duration, body: @Sendable () -> Void)]>([])

    func logger(_ level: Logger.Level = .info) -> Logger {
      let bound = LogBound(
        elapsed: { self.now.withLock(\.self) },
        schedule: { delay, body in self.planned.withLock { $0.append((delay, body)) } })
      let handler = BoundedLogHandler(threshold: LogThreshold(level), bound: bound) { record in
        let fields = record.journalFields.map { ($0.name, $0.value) }
        self.lines.withLock { $0.append(Dictionary(fields) { first, _ in first }) }
      }
      return Logger(label: "test") { _ in handler }
    }

    func pass(_ time: Duration) { now.withLock { $0 += time } }

    func report() {
      let due = planned.withLock { list -> [(delay: Duration, body: @Sendable () -> Void)] in
        defer { list = [] }
        return list
      }
      for entry in due { entry.body() }
    }

    func count(_ event: String) -> Int { lines.withLock { $0.count { $0["HEARTH_EVENT"] == event } } }
    var last: [String: String]? { lines.withLock(\.last) }
  }

  private static let dead: Logger.Metadata = ["HEARTH_EVENT": "outbox.itemDead", "HEARTH_ACCOUNT": "work"]

  @Test("of a flood a hundred records are written, and one more that says how many were left out")
  func flood() {
    let bench = Bench()
    let logger = bench.logger()
    for number in 0..<10_000 { logger.warning("Item \(number) is dead.", metadata: Self.dead) }
    #expect(bench.count("outbox.itemDead") == 100)
    let planned = bench.planned.withLock { list in list.map { $0.delay } }
    #expect(planned == [LogBound.reportInterval], "one report is planned")
    bench.pass(LogBound.reportInterval)
    bench.report()
    #expect(bench.count("daemon.notice") == 1)
    #expect(
      bench.last?["MESSAGE"]
        == "Dropped 9900 more outbox.itemDead records for work, because there were too many at once.")
    #expect(bench.last?["HEARTH_LEFT_OUT"] == "9900")
    #expect(bench.last?["HEARTH_ACCOUNT"] == "work")
    // A minute brings 30 more; those that are left out after a report are reported as well.
    for number in 0..<40 { logger.warning("Item \(number) is dead.", metadata: Self.dead) }
    #expect(bench.count("outbox.itemDead") == 130)
    bench.report()
    #expect(bench.last?["HEARTH_LEFT_OUT"] == "10")
    bench.report()
    #expect(bench.count("daemon.notice") == 2, "nothing is left to report")
  }

  @Test("a flood of one event of one account leaves out nothing else")
  func others() {
    let bench = Bench()
    let logger = bench.logger()
    for _ in 0..<1000 { logger.warning("Dead.", metadata: Self.dead) }
    logger.warning("Dead.", metadata: ["HEARTH_EVENT": "outbox.itemDead", "HEARTH_ACCOUNT": "home"])
    logger.warning("Ended.", metadata: ["HEARTH_EVENT": "session.reauthRequired", "HEARTH_ACCOUNT": "work"])
    logger.error("Something else.")
    #expect(bench.count("outbox.itemDead") == 101)
    #expect(bench.count("session.reauthRequired") == 1)
    #expect(bench.count("daemon.notice") == 1)
  }

  @Test("what comes now and then is written, for as long as it goes on, and what is asked for with debug always")
  func slow() {
    let bench = Bench()
    let logger = bench.logger(.debug)
    for _ in 0..<1000 {
      logger.info("Refreshed.", metadata: ["HEARTH_EVENT": "session.refreshed", "HEARTH_ACCOUNT": "work"])
      logger.debug("x")
      bench.pass(LogBound.interval)
    }
    #expect(bench.count("session.refreshed") == 1000)
    #expect(bench.count("daemon.notice") == 1000)
  }
}
