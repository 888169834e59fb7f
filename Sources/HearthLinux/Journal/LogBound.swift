import Dispatch
import Glibc
import HearthCore
import Logging
import Synchronization

/// Limits the rate of log records, so that no other user, misbehaving client or broken server can flood the log.
///
/// Each event of each account has a budget of records that refills over time. Hearth drops records over budget and logs
/// their number within a minute. Records at `debug` and `trace` are not limited, because Hearth logs them only on
/// request.
package final class LogBound: Sendable {
  /// The event and account that a budget applies to.
  struct Source: Hashable, Sendable, Comparable {
    let event: String
    /// The account, or an empty string if the event does not concern one.
    let account: String

    static func < (one: Source, other: Source) -> Bool {
      (one.event, one.account) < (other.event, other.account)
    }
  }

  private struct Spent {
    /// The number of records that could be written at `lastAt`.
    var left: Double
    var lastAt: Duration
    var leftOut = 0
  }

  private struct State {
    var sources: [Source: Spent] = [:]
    var isReportPlanned = false
  }

  /// The number of records that a source can write in one burst.
  static let burst = 100
  /// The time in which a source's budget grows by one record.
  static let interval: Duration = .seconds(2)
  /// The time from the first dropped record to the report.
  static let reportInterval: Duration = .seconds(60)

  package static let shared = LogBound()

  private let state = Mutex(State())
  private let elapsed: @Sendable () -> Duration
  private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  /// `elapsed` returns the time since a fixed point on a clock that cannot be set. `schedule` runs a closure after a
  /// delay.
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

  /// Returns whether to write the record. The first dropped record schedules a report, which calls `report` with a record
  /// for each source with dropped records.
  func admits(_ record: LogRecord, report: @escaping @Sendable (LogRecord) -> Void) -> Bool {
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

  /// Reports the number of records that each source has dropped since the last report.
  func flush(_ report: (LogRecord) -> Void) {
    let now = elapsed()
    let leftOut = state.withLock { state in
      state.isReportPlanned = false
      let leftOut = state.sources.filter { $0.value.leftOut > 0 }
      // A source with a full budget needs no entry.
      state.sources = state.sources.compactMapValues { spent in
        var spent = spent
        spent.leftOut = 0
        let isFull = spent.left + (now - spent.lastAt) / Self.interval >= Double(Self.burst)
        return isFull ? nil : spent
      }
      return leftOut
    }
    for (source, spent) in leftOut.sorted(by: { $0.key < $1.key }) {
      report(source.record(ofLeftOut: spent.leftOut))
    }
  }
}

extension LogBound.Source {
  fileprivate func record(ofLeftOut count: Int) -> LogRecord {
    let name = event.isEmpty ? EventName.daemonNotice.rawValue : event
    let whose = account.isEmpty ? "" : " for \(account)"
    let records = count == 1 ? "record" : "records"
    var record = LogRecord(
      level: .warning,
      message: "Dropped \(count) more \(name) \(records)\(whose), because there were too many at once.")
    record.fields = [("HEARTH_EVENT", EventName.daemonNotice.rawValue), ("HEARTH_LEFT_OUT", "\(count)")]
    if !account.isEmpty { record.fields.insert(("HEARTH_ACCOUNT", account), at: 0) }
    return record
  }
}
