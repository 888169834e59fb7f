import HearthCore

/// A queue of work that a service still has to do.
package struct WorkInbox: Sendable {
  package typealias Work = @Sendable () async -> Void

  private let work: AsyncStream<Work>
  private let inbox: AsyncStream<Work>.Continuation

  package init() {
    (work, inbox) = AsyncStream.makeStream()
  }

  package func add(_ work: @escaping Work) { inbox.yield(work) }

  /// Ends the queue, so that `run` and `runInOrder` return.
  package func finish() { inbox.finish() }

  /// Runs the work and `tasks` concurrently until `finish` is called. If there are `tasks`, then cancels them and any
  /// unfinished work. Otherwise, waits for the unfinished work to end.
  package func run(beside tasks: [Work] = []) async {
    await withDiscardingTaskGroup { group in
      for task in tasks { group.addTask { await task() } }
      for await work in work { group.addTask { await work() } }
      if !tasks.isEmpty { group.cancelAll() }
    }
  }

  package func runInOrder() async {
    for await work in work { await work() }
  }

  /// Adds work and waits for its result. The work continues even if the caller is cancelled.
  func result<Value: Sendable>(of work: @escaping @Sendable () async -> Value) async -> Value {
    await withCheckedContinuation { continuation in add { continuation.resume(returning: await work()) } }
  }
}

/// What a service knows about the clock: the steps that it has handled and the wake-ups that it has planned.
struct ServiceTime {
  /// The sum of the clock steps that the service has handled.
  fileprivate(set) var stepped: Duration
  /// The times at which sleeping tasks will wake up. Superfluous wake-ups are harmless.
  fileprivate(set) var armed: Set<Timestamp> = []
}

/// A service that plans actions for the future.
protocol PlanningService: Actor {
  nonisolated var clock: any Clock { get }
  nonisolated var work: WorkInbox { get }
  var time: ServiceTime { get set }

  /// Shifts all planned times by `step`, the amount by which the clock was set.
  func clockStepped(by step: Duration, at now: Timestamp)
  /// Called when an action may be due.
  func woke()
  /// Reschedules all actions after the clock was set or the machine resumed from sleep. Earlier wake-ups are forgotten.
  func planAnew()
}

extension PlanningService {
  func planAnew() { woke() }

  /// Returns the time. If the clock was set, notifies the service first instead of waiting for the clock's own
  /// notification. Otherwise, the service could plan an action with the new time, and the later notification would
  /// shift that action by mistake.
  func catchUp() -> Timestamp {
    let moment = clock.moment()
    let step = moment.stepped - time.stepped
    if step != .zero {
      // Sleeping tasks still use the old time, so forget their wake-ups.
      time = ServiceTime(stepped: moment.stepped)
      clockStepped(by: step, at: moment.now)
    }
    return moment.now
  }

  /// Ensures that `woke` is called no later than `wake`.
  func arm(_ wake: Timestamp?) {
    guard let wake, time.armed.allSatisfy({ wake < $0 }) else { return }
    time.armed.insert(wake)
    work.add { [clock] in
      await clock.sleep(until: wake)
      if !Task.isCancelled { await self.woke(for: wake) }
    }
  }

  private func woke(for wake: Timestamp) {
    time.armed.remove(wake)
    woke()
  }

  /// Reschedules all actions whenever the clock is set or the machine resumes from sleep, until the task is cancelled.
  func followClock() async {
    for await _ in clock.steps() {
      time.armed = []
      planAnew()
    }
  }
}
