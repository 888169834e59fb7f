import HearthCore

/// A part of the daemon that works until it is told to stop. All its tasks are children of `run`.
package protocol RunningService: Sendable {
  func run() async throws
}

/// The work that a service still has to do.
package struct WorkInbox: Sendable {
  package typealias Work = @Sendable () async -> Void

  private let work: AsyncStream<Work>
  private let inbox: AsyncStream<Work>.Continuation

  package init() {
    (work, inbox) = AsyncStream.makeStream()
  }

  package func add(_ work: @escaping Work) { inbox.yield(work) }

  /// Lets `run` end once everything has been done that was added before.
  package func finish() { inbox.finish() }

  /// Does all work side by side, until no more can come. `tasks` run meanwhile. They are cancelled at the end, with the
  /// work that is still under way.
  package func run(beside tasks: [Work] = []) async {
    await withDiscardingTaskGroup { group in
      for task in tasks { group.addTask { await task() } }
      for await work in work { group.addTask { await work() } }
      if !tasks.isEmpty { group.cancelAll() }
    }
  }

  /// Does one piece of work after the other.
  func runInOrder() async {
    for await work in work { await work() }
  }

  /// Adds work, and returns what it brings. The work goes on where the caller is cancelled.
  func result<Value: Sendable>(of work: @escaping @Sendable () async -> Value) async -> Value {
    await withCheckedContinuation { continuation in add { continuation.resume(returning: await work()) } }
  }
}

/// What a service knows of its clock, and is asleep for.
struct ServiceTime {
  /// The steps of the clock that the service has been told of.
  fileprivate(set) var stepped: Duration
  /// The wake-ups that tasks are asleep for. Those that are not needed any more change nothing.
  fileprivate(set) var armed: Set<Timestamp> = []
}

/// A service that plans by its clock.
protocol PlanningService: Actor {
  nonisolated var clock: any Clock { get }
  nonisolated var work: WorkInbox { get }
  var time: ServiceTime { get set }

  /// The clock was set: what was planned on the old clock moves with it.
  func clockStepped(by step: Duration, at now: Timestamp)
  /// Something may be due now.
  func woke()
  /// The clock was set, or the machine has resumed from sleep, and nobody sleeps for the service any more.
  func planAnew()
}

extension PlanningService {
  func planAnew() { woke() }

  /// The time, once the service knows of every step of the clock before it: the notice of a step may come later than what
  /// follows it, and nothing is planned on one clock and shifted to another.
  func catchUp() -> Timestamp {
    let moment = clock.moment()
    let step = moment.stepped - time.stepped
    if step != .zero {
      // The sleepers count on the old clock, so their wake-ups do not count.
      time = ServiceTime(stepped: moment.stepped)
      clockStepped(by: step, at: moment.now)
    }
    return moment.now
  }

  /// Has `woke` called at this time, unless it is called earlier.
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

  /// Follows the clock until its task is cancelled.
  func followClock() async {
    for await _ in clock.steps() {
      time.armed = []
      planAnew()
    }
  }
}
