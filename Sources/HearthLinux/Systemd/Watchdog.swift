import CSystemd
package import HearthCore

/// Reports to the service manager's watchdog as long as the daemon is alive (sd_watchdog_enabled(3)).
package struct Watchdog: Sendable {
  /// Half of what the manager allows between two signs of life.
  package let interval: Duration
  private let notifier = ServiceNotifier()

  package init(interval: Duration) {
    self.interval = interval
  }

  /// Nil where the service manager asks for no signs of life (`$WATCHDOG_USEC`).
  package static func asked() -> Watchdog? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return Watchdog(interval: .microseconds(Int64(clamping: microseconds / 2)))
  }

  /// Runs until its task is cancelled. While `isAlive` says no, or does not answer, nothing is reported, and the
  /// manager ends and restarts the service.
  package func run(clock: any Clock, isAlive: @Sendable () async -> Bool) async {
    while !Task.isCancelled {
      if await isAlive() { notifier.alive() }
      await clock.sleep(until: clock.now() + interval)
    }
  }
}
