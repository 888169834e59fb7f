package import HearthCore
import Synchronization

/// A clock on which everybody's sleep is over at once, and the time it took has passed.
package final class RushingClock: Clock {
  private struct State {
    var now: Timestamp
    var stepped: Duration = .zero
    var slept: Duration = .zero
    var duringSleep: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>

  package init(_ start: Timestamp = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!) {
    state = Mutex(State(now: start))
  }

  package func now() -> Timestamp { state.withLock(\.now) }

  package func moment() -> (now: Timestamp, stepped: Duration) { state.withLock { ($0.now, $0.stepped) } }

  package func sleep(until deadline: Timestamp) async {
    let action = state.withLock { state in
      let action = state.duringSleep.isEmpty ? nil : state.duringSleep.removeFirst()
      state.slept += deadline - state.now
      state.now = max(state.now, deadline)
      return action
    }
    action?()
  }

  package func steps() -> AsyncStream<Duration> { AsyncStream { $0.finish() } }

  package func advance(by duration: Duration) {
    state.withLock { $0.now = $0.now + duration }
  }

  /// Sets the clock like an administrator would.
  package func step(by duration: Duration) {
    state.withLock { state in
      state.now = state.now + duration
      state.stepped += duration
    }
  }

  /// How long all sleeps together were.
  package var slept: Duration { state.withLock(\.slept) }

  /// Does this at the end of the next sleep that has nothing yet to be done.
  package func duringNextSleep(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.duringSleep.append(action) }
  }
}
