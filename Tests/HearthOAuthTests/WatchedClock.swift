import HearthCore
import TestSupport

/// Tells each time that somebody looks at the clock.
final class WatchedClock: Clock {
  let looks: AsyncStream<Void>
  private let looked: AsyncStream<Void>.Continuation
  private let clock: ManualClock

  init(_ clock: ManualClock) {
    self.clock = clock
    (looks, looked) = AsyncStream.makeStream()
  }

  func now() -> Timestamp {
    looked.yield()
    return clock.now()
  }

  func moment() -> (now: Timestamp, stepped: Duration) { clock.moment() }
  func sleep(until deadline: Timestamp) async { await clock.sleep(until: deadline) }
  func steps() -> AsyncStream<Duration> { clock.steps() }
}
