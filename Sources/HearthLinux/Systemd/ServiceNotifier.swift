import CSystemd
import Glibc
package import HearthCore
import HearthThreads

/// Reports the daemon's state to the service manager (sd_notify(3)). Does nothing if `$NOTIFY_SOCKET` is not set.
///
/// A separate thread sends the messages in order, so that only this thread blocks if the service manager hangs or its
/// queue is full.
package struct ServiceNotifier: Sendable {
  private static let thread = WorkerThread()

  package init() {}

  package func ready(status: String) {
    send(["READY=1", "STATUS=\(line(status))"])
  }

  package func status(_ text: String) {
    send(["STATUS=\(line(text))"])
  }

  /// Must be followed by `ready` once the configuration has been reloaded.
  package func reloading() {
    send(["RELOADING=1", "MONOTONIC_USEC=\(ClockReading.nanoseconds(CLOCK_MONOTONIC) / 1000)"])
  }

  /// Extends the stop timeout (`TimeoutStopSec=`) to at least `time` from now, so that a running refresh can finish.
  package func stopping(within time: Duration) {
    send(["STOPPING=1", "STATUS=Stopping.", "EXTEND_TIMEOUT_USEC=\(time.wholeMilliseconds * 1000)"])
  }

  /// The time between two keep-alive messages to the service manager's watchdog, half of the watchdog's timeout, or `nil`
  /// if the service manager has not enabled one for this process (sd_watchdog_enabled(3), `$WATCHDOG_USEC`).
  package static func watchdogInterval() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return .microseconds(Int64(clamping: microseconds / 2))
  }

  /// Sends keep-alive messages until the task is cancelled. Sends no message while `isAlive` returns false or hangs, which
  /// makes the service manager restart the service.
  package func keepAlive(
    every interval: Duration, clock: any Clock, isAlive: @Sendable () async -> Bool
  ) async {
    while !Task.isCancelled {
      if await isAlive() { alive() }
      await clock.sleep(until: clock.now() + interval)
    }
  }

  func alive() {
    send(["WATCHDOG=1"])
  }

  private func send(_ assignments: [String]) {
    let message = assignments.joined(separator: "\n")
    Self.thread.enqueue { sd_notify(0, message) }
  }

  /// Removes line breaks, because a line break would start another assignment.
  private func line(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
