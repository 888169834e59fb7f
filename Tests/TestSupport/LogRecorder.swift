package import Logging
import Synchronization

/// A log that keeps its lines and reports each one as it arrives.
package final class LogRecorder: LogHandler, Sendable {
  package struct Record: Hashable, Sendable {
    package let level: Logger.Level
    package let message: String
    package let fields: [String: String]
  }

  package let stream: AsyncStream<Record>
  private let feed: AsyncStream<Record>.Continuation
  private let kept = Mutex<[Record]>([])

  package init() { (stream, feed) = AsyncStream.makeStream() }

  package var records: [Record] { kept.withLock(\.self) }

  /// The logger that writes here.
  package var logger: Logger { Logger(label: "test") { _ in self } }

  package func log(event: LogEvent) {
    let record = Record(
      level: event.level, message: "\(event.message)", fields: (event.metadata ?? [:]).mapValues(\.description))
    kept.withLock { $0.append(record) }
    feed.yield(record)
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
  package var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  package var logLevel: Logger.Level {
    get { .trace }
    set {}
  }
}
