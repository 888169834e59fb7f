import Glibc
import HearthCore
import Logging
import Synchronization
import Testing

@testable import HearthLinux

@Suite("The journal")
struct JournalTests {
  /// What a handler was made to send or write.
  private final class Sent<Record: Sendable>: Sendable {
    private let stored = Mutex<[Record]>([])
    var records: [Record] { stored.withLock { $0 } }
    func append(_ record: Record) { stored.withLock { $0.append(record) } }
  }

  private func journal(_ threshold: LogThreshold = LogThreshold(.info)) -> (Logger, Sent<[String: String]>) {
    let sent = Sent<[String: String]>()
    let handler = BoundedLogHandler(threshold: threshold) { record in
      sent.append(Dictionary(record.journalFields.map { ($0.name, $0.value) }) { first, _ in first })
    }
    return (Logger(label: "test") { _ in handler }, sent)
  }

  private func plain() -> (Logger, Sent<String>) {
    let sent = Sent<String>()
    let handler = BoundedLogHandler(threshold: LogThreshold(.info)) { record in
      sent.append(record.line(at: Timestamp(seconds: 1_700_000_000)))
    }
    return (Logger(label: "test") { _ in handler }, sent)
  }

  @Test("an event goes out with its fields, its priority and the MESSAGE_ID of its kind")
  func fields() {
    let (logger, sent) = journal()
    logger.notice("Signed in.", metadata: ["HEARTH_EVENT": "session.changed", "HEARTH_ACCOUNT": "work"])
    #expect(
      sent.records == [
        [
          "MESSAGE": "Signed in.", "PRIORITY": "5", "SYSLOG_IDENTIFIER": "hearthd",
          "MESSAGE_ID": EventName.sessionChanged.messageID ?? "", "HEARTH_EVENT": "session.changed",
          "HEARTH_ACCOUNT": "work",
        ]
      ])
  }

  @Test("levels are syslog priorities")
  func priorities() {
    let (logger, sent) = journal(LogThreshold(.trace))
    for level in Logger.Level.allCases { logger.log(level: level, "x") }
    #expect(sent.records.map { $0["PRIORITY"] } == ["7", "7", "6", "5", "4", "3", "2"])
  }

  @Test("what is no field name is read in the message")
  func otherMetadata() {
    let (logger, sent) = journal()
    logger.warning("Slow.", metadata: ["elapsed": "3s", "_PID": "1"])
    #expect(sent.records.map { $0["MESSAGE"] } == ["Slow. _PID=1 elapsed=3s"])
    #expect(sent.records.map { $0["_PID"] } == [nil])
  }

  @Test("the threshold moves for loggers that exist already, a logger's own level stays its own")
  func threshold() {
    let threshold = LogThreshold(.warning)
    let (logger, sent) = journal(threshold)
    var verbose = logger
    verbose.logLevel = .debug
    logger.info("unheard")
    verbose.debug("own")
    threshold.level = .info
    logger.info("heard")
    #expect(sent.records.map { $0["MESSAGE"] } == ["own", "heard"])
  }

  @Test("a plain line has time, level, event, account, message and the other fields")
  func plainLine() {
    let (logger, sent) = plain()
    logger.notice(
      "Signed in.",
      metadata: ["HEARTH_EVENT": "session.changed", "HEARTH_ACCOUNT": "work", "HEARTH_STATE": "authenticated"])
    logger.error("Bare.")
    #expect(
      sent.records == [
        "2023-11-14T22:13:20.000Z notice   session.changed work: Signed in. (state=authenticated)\n",
        "2023-11-14T22:13:20.000Z error    Bare.\n",
      ])
  }

  @Test("a plain record is one line, whatever a server said")
  func plainControlCharacters() {
    let (logger, sent) = plain()
    logger.warning("Refused: a\nb\r\u{1B}[31mred", metadata: ["HEARTH_ERROR": "\u{202E}\u{2028}"])
    #expect(
      sent.records == [
        "2023-11-14T22:13:20.000Z warning  Refused: a\\u{A}b\\u{D}\\u{1B}[31mred (error=\\u{202E}\\u{2028})\n"
      ])
  }

  @Test("the fields of a record are fit to be shown as well, and bounded")
  func journalText() {
    let (logger, sent) = journal()
    let long = String(repeating: "x", count: 1 << 20)
    logger.warning(
      "Refused: \u{1B}]0;\u{7}", metadata: ["HEARTH_SUBJECT": "a\u{9B}\nMESSAGE=b", "HEARTH_ERROR": "\(long)"])
    logger.warning("\(long)", metadata: ["detail": "\u{200B}"])
    #expect(sent.records[0]["MESSAGE"] == "Refused: \\u{1B}]0;\\u{7}")
    #expect(sent.records[0]["HEARTH_SUBJECT"] == "a\\u{9B}\\u{A}MESSAGE=b")
    #expect(sent.records[0]["HEARTH_ERROR"]?.count == 4096)
    #expect(sent.records[1]["MESSAGE"]?.count == 8192)
  }

  @Test("standard error is the journal when its device and inode are the named ones")
  func journalStream() throws {
    var status = stat()
    try #require(fstat(STDERR_FILENO, &status) == 0)
    #expect(DaemonLog.isJournal(STDERR_FILENO, stream: "\(status.st_dev):\(status.st_ino)"))
    #expect(!DaemonLog.isJournal(STDERR_FILENO, stream: "\(status.st_dev):\(status.st_ino + 1)"))
    #expect(!DaemonLog.isJournal(STDERR_FILENO, stream: ""))
    #expect(!DaemonLog.isJournal(-1, stream: "\(status.st_dev):\(status.st_ino)"))
  }
}
