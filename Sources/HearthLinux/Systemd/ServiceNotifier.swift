import CSystemd
import Glibc
import HearthCore
import HearthThreads

/// Reports the daemon's state to the service manager (sd_notify(3)). Does nothing if `$NOTIFY_SOCKET` is not set.
///
/// The messages are sent in order on their own thread. If the manager accepts none, because its queue is full or it
/// hangs, only that thread waits in sd_notify.
package struct ServiceNotifier: Sendable {
  private static let thread = WorkerThread()

  package init() {}

  package func ready(status: String) {
    send(["READY=1", "STATUS=\(line(status))"])
  }

  package func status(_ text: String) {
    send(["STATUS=\(line(text))"])
  }

  /// Must be followed by `ready` when the configuration has been read again.
  package func reloading() {
    send(["RELOADING=1", "MONOTONIC_USEC=\(ClockReading.nanoseconds(CLOCK_MONOTONIC) / 1000)"])
  }

  /// Restarts `TimeoutStopSec=` with at least `time`, because the response to a refresh may still come.
  package func stopping(within time: Duration) {
    send(["STOPPING=1", "STATUS=Stopping.", "EXTEND_TIMEOUT_USEC=\(time.wholeMilliseconds * 1000)"])
  }

  /// Sends the keep-alive message for the watchdog.
  package func alive() {
    send(["WATCHDOG=1"])
  }

  private func send(_ assignments: [String]) {
    let message = assignments.joined(separator: "\n")
    Self.thread.enqueue { sd_notify(0, message) }
  }

  /// A line break in a status would begin another assignment.
  private func line(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
