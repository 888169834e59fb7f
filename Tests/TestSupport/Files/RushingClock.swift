package import HearthCore
import Synchronization

/// A clock on which every sleep ends at once, after its time has passed.
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

  /// The total duration of all sleeps.
  package var slept: Duration { state.withLock(\.slept) }

  /// Runs this at the end of the next sleep that has nothing to run yet.
  package func duringNextSleep(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.duringSleep.append(action) }
  }
}
