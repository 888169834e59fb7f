package import HearthCore
import Synchronization

/// A clock that stands still until the test moves it.
package final class ManualClock: Clock {
  private struct Sleeper {
    let deadline: Timestamp
    let action: @Sendable () -> Void
  }

  private struct State {
    var now: Timestamp
    var stepped: Duration = .zero
    var nextID = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var watchers: [AsyncStream<Void>.Continuation] = []
    var steps: [AsyncStream<Duration>.Continuation] = []
  }

  private let state: Mutex<State>

  package init(_ start: Timestamp = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!) {
    state = Mutex(State(now: start))
  }

  package func now() -> Timestamp { state.withLock(\.now) }

  package func moment() -> (now: Timestamp, stepped: Duration) { state.withLock { ($0.now, $0.stepped) } }

  package func sleep(until deadline: Timestamp) async {
    let id = nextID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if !wait(until: deadline, id, { continuation.resume() }) { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.action()
    }
  }

  package func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer {
    let id = nextID()
    if !wait(until: deadline, id, action) { action() }
    return ClockTimer { _ = self.state.withLock { $0.sleepers.removeValue(forKey: id) } }
  }

  private func nextID() -> Int {
    state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
  }

  /// Returns false if there is nothing to wait for.
  private func wait(until deadline: Timestamp, _ id: Int, _ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if deadline <= state.now || state.cancelled.remove(id) != nil { return false }
      state.sleepers[id] = Sleeper(deadline: deadline, action: action)
      state.watchers.forEach { $0.yield() }
      return true
    }
  }

  package func steps() -> AsyncStream<Duration> {
    let (stream, continuation) = AsyncStream<Duration>.makeStream()
    state.withLock { $0.steps.append(continuation) }
    return stream
  }

  /// Changes the time without a clock step, for a test that goes back and forth.
  package func jump(to now: Timestamp) { state.withLock { $0.now = now } }

  /// Advances the time and wakes those whose deadline has come, earliest first.
  package func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now + duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      due.keys.forEach { state.sleepers[$0] = nil }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    }
    due.forEach { $0.value.action() }
  }

  /// Sets the clock like an administrator. Sleepers are not woken. Watchers of clock steps are notified, or not yet if
  /// `isTold` is false.
  package func step(by duration: Duration, isTold: Bool = true) {
    let watchers = state.withLock { state in
      state.now = state.now + duration
      state.stepped += duration
      state.sleepers = state.sleepers.mapValues { sleeper in
        Sleeper(deadline: sleeper.deadline + duration, action: sleeper.action)
      }
      return isTold ? state.steps : []
    }
    watchers.forEach { $0.yield(duration) }
  }

  /// Waits until someone sleeps until exactly `deadline`, or until anyone sleeps if it is nil.
  package func waitForSleeper(until deadline: Timestamp? = nil) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    state.withLock { $0.watchers.append(continuation) }
    continuation.yield()
    for await _ in stream {
      let isThere = state.withLock { state in
        state.sleepers.values.contains { deadline == nil || $0.deadline == deadline }
      }
      if isThere { return }
    }
  }

  /// The deadline of the earliest sleeper.
  package var nextDeadline: Timestamp? {
    state.withLock { $0.sleepers.values.map(\.deadline).min() }
  }
}
