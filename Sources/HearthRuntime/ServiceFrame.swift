import HearthCore

/// A part of the daemon that runs until it is told to stop. All its tasks are children of `run`.
package protocol RunningService: Sendable {
  func run() async throws
}

/// Work that a service still has to do.
package struct WorkInbox: Sendable {
  package typealias Work = @Sendable () async -> Void

  private let work: AsyncStream<Work>
  private let inbox: AsyncStream<Work>.Continuation

  package init() {
    (work, inbox) = AsyncStream.makeStream()
  }

  package func add(_ work: @escaping Work) { inbox.yield(work) }

  /// Lets `run` end once all work added so far is done.
  package func finish() { inbox.finish() }

  /// Does all work concurrently, until no more can come. `tasks` run at the same time. At the end they are cancelled,
  /// with the work that is still in progress.
  package func run(beside tasks: [Work] = []) async {
    await withDiscardingTaskGroup { group in
      for task in tasks { group.addTask { await task() } }
      for await work in work { group.addTask { await work() } }
      if !tasks.isEmpty { group.cancelAll() }
    }
  }

  /// Does the work one piece at a time.
  func runInOrder() async {
    for await work in work { await work() }
  }

  /// Adds work, and returns its value. The work continues if the caller is cancelled.
  func result<Value: Sendable>(of work: @escaping @Sendable () async -> Value) async -> Value {
    await withCheckedContinuation { continuation in add { continuation.resume(returning: await work()) } }
  }
}

/// What a service knows of its clock, and its planned wake-ups.
struct ServiceTime {
  /// The total of the clock's steps that the service knows of.
  fileprivate(set) var stepped: Duration
  /// The times that sleeping tasks wake up. Waking up at one that is no longer needed is harmless.
  fileprivate(set) var armed: Set<Timestamp> = []
}

/// A service that plans by its clock.
protocol PlanningService: Actor {
  nonisolated var clock: any Clock { get }
  nonisolated var work: WorkInbox { get }
  var time: ServiceTime { get set }

  /// Moves the plans of the old clock to the new one.
  func clockStepped(by step: Duration, at now: Timestamp)
  /// Called when something may be due.
  func woke()
  /// Plans again after the clock was set or the machine woke from sleep; all earlier wake-ups are void.
  func planAnew()
}

extension PlanningService {
  func planAnew() { woke() }

  /// The time, after the service has learned of every step of the clock so far. The notice of a step may come late, and
  /// nothing may be planned on the new clock and then shifted once more.
  func catchUp() -> Timestamp {
    let moment = clock.moment()
    let step = moment.stepped - time.stepped
    if step != .zero {
      // The sleepers count on the old clock, so their wake-ups are void.
      time = ServiceTime(stepped: moment.stepped)
      clockStepped(by: step, at: moment.now)
    }
    return moment.now
  }

  /// Arranges that `woke` is called at this time or earlier.
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
