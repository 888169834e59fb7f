import Dispatch
import Glibc
import HearthCore
import Logging
import Synchronization

/// Limits the rate of log records, so that nobody can fill the log: no other user, no misbehaving client, and no server
/// that answers nonsense.
///
/// Each event of each account has a budget of records, which refills over time. Records beyond it are left out and
/// counted, and once a minute one record reports their number. The levels `debug` and `trace`, which somebody has asked
/// for, are not limited.
package final class LogBound: Sendable {
  /// What a budget belongs to.
  struct Source: Hashable, Sendable, Comparable {
    let event: String
    /// Empty if the event is about no account.
    let account: String

    static func < (one: Source, other: Source) -> Bool {
      (one.event, one.account) < (other.event, other.account)
    }
  }

  /// The records of one source that were left out.
  struct LeftOut: Hashable, Sendable {
    let source: Source
    let count: Int
  }

  private struct Spent {
    /// How many records can be written now.
    var left: Double
    var lastAt: Duration
    var leftOut = 0
  }

  private struct State {
    var sources: [Source: Spent] = [:]
    var isReportPlanned = false
  }

  /// The number of records of one source that may come at once.
  static let burst = 100
  /// How long it takes until one more record may come.
  static let interval: Duration = .seconds(2)
  /// How long it takes until left-out records are reported.
  static let reportInterval: Duration = .seconds(60)

  /// The bound for all logs of this process.
  package static let shared = LogBound()

  private let state = Mutex(State())
  private let elapsed: @Sendable () -> Duration
  private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  /// `elapsed` returns the time since a fixed point, on a clock that is never set. `schedule` calls back after a time.
  init(
    elapsed: @escaping @Sendable () -> Duration = { .nanoseconds(ClockReading.nanoseconds(CLOCK_BOOTTIME)) },
    schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = LogBound.onQueue
  ) {
    self.elapsed = elapsed
    self.schedule = schedule
  }

  private static let queue = DispatchQueue(label: "hearth.log")

  private static let onQueue: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { delay, body in
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1))), execute: body)
  }

  /// Returns whether this record is written. `report` writes what was left out, when it is time.
  func admits(_ record: LogRecord, report: @escaping @Sendable (LeftOut) -> Void) -> Bool {
    guard record.level > .debug else { return true }
    let source = Source(event: record["HEARTH_EVENT"] ?? "", account: record["HEARTH_ACCOUNT"] ?? "")
    let now = elapsed()
    let (isAdmitted, isFirst) = state.withLock { state in
      var spent = state.sources[source] ?? Spent(left: Double(Self.burst), lastAt: now)
      spent.left = min(Double(Self.burst), spent.left + (now - spent.lastAt) / Self.interval)
      spent.lastAt = now
      defer { state.sources[source] = spent }
      guard spent.left < 1 else {
        spent.left -= 1
        return (true, false)
      }
      spent.leftOut += 1
      defer { state.isReportPlanned = true }
      return (false, !state.isReportPlanned)
    }
    if isFirst { schedule(Self.reportInterval) { self.flush(report) } }
    return isAdmitted
  }

  /// Reports what was left out since the last report.
  func flush(_ report: (LeftOut) -> Void) {
    let now = elapsed()
    let leftOut = state.withLock { state in
      state.isReportPlanned = false
      let leftOut = state.sources.filter { $0.value.leftOut > 0 }.map {
        LeftOut(source: $0.key, count: $0.value.leftOut)
      }
      // Sources with a full budget are like new ones.
      state.sources = state.sources.compactMapValues { spent in
        var spent = spent
        spent.leftOut = 0
        let isFull = spent.left + (now - spent.lastAt) / Self.interval >= Double(Self.burst)
        return isFull ? nil : spent
      }
      return leftOut
    }
    for entry in leftOut.sorted(by: { $0.source < $1.source }) { report(entry) }
  }
}

extension LogBound.LeftOut {
  /// The record that reports this.
  var record: LogRecord {
    let name = source.event.isEmpty ? EventName.daemonNotice.rawValue : source.event
    let whose = source.account.isEmpty ? "" : " of \(source.account)"
    var record = LogRecord(
      level: .warning,
      message: "\(count) more records of \(name)\(whose) were left out, because there were too many at once.")
    record.fields = [("HEARTH_EVENT", EventName.daemonNotice.rawValue), ("HEARTH_LEFT_OUT", "\(count)")]
    if !source.account.isEmpty { record.fields.insert(("HEARTH_ACCOUNT", source.account), at: 0) }
    return record
  }
}
