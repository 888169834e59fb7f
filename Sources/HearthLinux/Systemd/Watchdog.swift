import CSystemd
package import HearthCore

/// Sends keep-alive messages to the service manager's watchdog (sd_watchdog_enabled(3)).
package struct Watchdog: Sendable {
  /// The time between two keep-alive messages: half of the watchdog's timeout.
  package let interval: Duration
  private let notifier = ServiceNotifier()

  /// Returns `nil` if the service manager has not enabled a watchdog for this process (`$WATCHDOG_USEC`).
  package static func requested() -> Watchdog? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return Watchdog(interval: .microseconds(Int64(clamping: microseconds / 2)))
  }

  /// Runs until the task is cancelled. Sends no message while `isAlive` returns false or hangs, which makes the service
  /// manager restart the service.
  package func run(clock: any Clock, isAlive: @Sendable () async -> Bool) async {
    while !Task.isCancelled {
      if await isAlive() { notifier.alive() }
      await clock.sleep(until: clock.now() + interval)
    }
  }
}
