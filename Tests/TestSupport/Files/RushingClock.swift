package import HearthCore
import Synchronization

/// A clock on which everybody's sleep is over at once, and the time it took has passed.
package final class RushingClock: Clock {
  private let clock: ManualClock
  private let state = Mutex<(slept: Duration, duringSleep: [@Sendable () -> Void])>((.zero, []))

  package init() { clock = ManualClock() }

  package func now() -> Timestamp { clock.now() }

  package func moment() -> (now: Timestamp, stepped: Duration) { clock.moment() }

  package func sleep(until deadline: Timestamp) async {
    if Task.isCancelled { return }
    let action = state.withLock { state in
      let left = max(.zero, deadline - clock.now())
      state.slept += left
      clock.advance(by: left)
      return state.duringSleep.isEmpty ? nil : state.duringSleep.removeFirst()
    }
    action?()
  }

  package func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer {
    clock.timer(at: deadline, action)
  }

  package func steps() -> AsyncStream<Duration> { clock.steps() }

  package func advance(by duration: Duration) { clock.advance(by: duration) }

  /// Sets the clock like an administrator would.
  package func step(by duration: Duration) { clock.step(by: duration) }

  /// How long all sleeps together were.
  package var slept: Duration { state.withLock(\.slept) }

  /// Does this at the end of the next sleep that has nothing yet to be done.
  package func duringNextSleep(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.duringSleep.append(action) }
  }
}
