package import HearthCore

/// Tells each time that somebody looks at the clock.
package final class WatchedClock: Clock {
  package let looks: AsyncStream<Void>
  private let looked: AsyncStream<Void>.Continuation
  private let clock: ManualClock

  package init(_ clock: ManualClock) {
    self.clock = clock
    (looks, looked) = AsyncStream.makeStream()
  }

  package func now() -> Timestamp {
    looked.yield()
    return clock.now()
  }

  package func moment() -> (now: Timestamp, stepped: Duration) { clock.moment() }
  package func sleep(until deadline: Timestamp) async { await clock.sleep(until: deadline) }
  package func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer {
    clock.timer(at: deadline, action)
  }

  package func steps() -> AsyncStream<Duration> { clock.steps() }
}
