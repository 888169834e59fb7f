import CLinux
import Glibc
package import HearthCore
import HearthThreads
import Synchronization

/// The machine's clock. The time is CLOCK_BOOTTIME, which also advances during sleep, plus the wall clock's offset from
/// it, which is measured again at each step.
///
/// A thread waits for the earliest deadline, for steps of the wall clock and for `stop()`.
package final class SystemClock: Clock {
  private struct State {
    var wall: WallClock
    var sleepers = SleeperQueue()
    /// The time for which the alarm is set. Cancelling the earliest deadline does not reset the alarm, because one
    /// unnecessary wake-up costs less than a system call for each cancellation.
    var alarmAt = Int64.max
    var cancelled: Set<UInt64> = []
    var watchers: [UInt64: AsyncStream<Duration>.Continuation] = [:]
    var lastNumber: UInt64 = 0
    var isStopped = false

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  /// A timerfd on CLOCK_BOOTTIME that fires at or before the earliest deadline.
  private let alarm: Int32
  private let end: Int32
  private let reading: @Sendable () -> ClockReading
  private let state: Mutex<State>

  package convenience init() throws {
    try self.init(reading: ClockReading.current)
  }

  /// `changes` is a descriptor that becomes readable when the wall clock is set, or `nil` to create one.
  init(changes: Int32? = nil, reading: @escaping @Sendable () -> ClockReading) throws {
    let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
    let alarm = try Self.open("timerfd_create", timerfd_create(CLOCK_BOOTTIME, flags))
    // Becomes readable when the wall clock is set or the machine resumes.
    let changes = try Self.open("timerfd_create", changes ?? timerfd_create(CLOCK_REALTIME, flags))
    let end = try Self.open("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
    (self.alarm, self.end, self.reading) = (alarm, end, reading)
    // Starts watching before reading the clock, so that no step is missed.
    Self.watch(changes)
    state = Mutex(State(wall: WallClock(reading())))
    WorkerThread(linger: 0).enqueue { [weak self] in
      var polled = [alarm, changes, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      while polled[2].revents == 0 {
        guard poll(&polled, nfds_t(polled.count), -1) > 0, polled[2].revents == 0 else { continue }
        if polled[1].revents != 0 { self?.checkWallClock(changes) }
        if polled[0].revents != 0 { self?.wakeDue() }
      }
      for descriptor in [alarm, changes, end] { close(descriptor) }
    }
  }

  deinit { stop() }

  package func now() -> Timestamp { moment().now }

  package func moment() -> (now: Timestamp, stepped: Duration) {
    state.withLock { state in
      (state.wall.timestamp(atBoot: ClockReading.nanoseconds(CLOCK_BOOTTIME)), .nanoseconds(state.wall.offset))
    }
  }

  package func sleep(until deadline: Timestamp) async {
    let ticket = ticket(for: deadline)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if !wait(for: ticket, { continuation.resume() }) { continuation.resume() }
      }
    } onCancel: {
      let action = state.withLock { state in
        let action = state.sleepers.remove(ticket)
        if action == nil { state.cancelled.insert(ticket.number) }
        return action
      }
      action?()
    }
    // Removes the number that a cancellation after the wake-up leaves behind.
    state.withLock { _ = $0.cancelled.remove(ticket.number) }
  }

  package func timer(at deadline: Timestamp, _ action: @escaping @Sendable () -> Void) -> ClockTimer {
    let ticket = ticket(for: deadline)
    if !wait(for: ticket, action) { action() }
    return ClockTimer { _ = self.state.withLock { $0.sleepers.remove(ticket) } }
  }

  private func ticket(for deadline: Timestamp) -> SleeperQueue.Ticket {
    state.withLock { SleeperQueue.Ticket(deadline: $0.wall.boot(at: deadline), number: $0.nextNumber()) }
  }

  /// Schedules the action. Returns false if there is no need to wait.
  private func wait(for ticket: SleeperQueue.Ticket, _ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.cancelled.remove(ticket.number) != nil || state.isStopped
        || ticket.deadline <= ClockReading.nanoseconds(CLOCK_BOOTTIME)
      {
        return false
      }
      state.sleepers.insert(action, ticket)
      if ticket.deadline < state.alarmAt { setAlarm(ticket.deadline, &state) }
      return true
    }
  }

  /// Returns a stream of the wall clock's steps. A resume without a step counts as a step of zero. Steps below 100 ms
  /// are reported once they add up to 100 ms.
  package func steps() -> AsyncStream<Duration> {
    let (stream, continuation) = AsyncStream<Duration>.makeStream()
    let number: UInt64? = state.withLock { state in
      guard !state.isStopped else { return nil }
      let number = state.nextNumber()
      state.watchers[number] = continuation
      return number
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Ends the thread and all step streams. From now on, all deadlines count as reached, even new ones.
  package func stop() {
    let (isFirst, sleepers, watchers) = state.withLock { state in
      defer { (state.isStopped, state.watchers) = (true, [:]) }
      return (!state.isStopped, state.sleepers.removeAll(), Array(state.watchers.values))
    }
    sleepers.forEach { $0() }
    watchers.forEach { $0.finish() }
    // Makes the thread close its descriptors and end.
    if isFirst { eventfd_write(end, 1) }
  }

  private static func open(_ call: String, _ descriptor: Int32) throws -> Int32 {
    guard descriptor >= 0 else { throw SystemCallFailure(call) }
    return descriptor
  }

  /// Makes the descriptor readable when the wall clock is set (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
  private static func watch(_ changes: Int32) {
    var never = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max, tv_nsec: 0))
    timerfd_settime(changes, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &never, nil)
  }

  private func setAlarm(_ boot: Int64, _ state: inout State) {
    state.alarmAt = boot
    // A value of zero would disarm the timer.
    let boot = max(boot, 1)
    let time = timespec(tv_sec: Int(boot / 1_000_000_000), tv_nsec: Int(boot % 1_000_000_000))
    var timer = itimerspec(it_interval: timespec(), it_value: time)
    timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &timer, nil)
  }

  private func checkWallClock(_ changes: Int32) {
    var expirations: UInt64 = 0
    _ = read(changes, &expirations, 8)
    Self.watch(changes)
    let (step, watchers) = state.withLock { state in
      let step = state.wall.observe(reading())
      return (step, Array(state.watchers.values))
    }
    if let step { watchers.forEach { $0.yield(step) } }
  }

  private func wakeDue() {
    var expirations: UInt64 = 0
    _ = read(alarm, &expirations, 8)
    let due = state.withLock { state in
      let due = state.sleepers.removeDue(at: ClockReading.nanoseconds(CLOCK_BOOTTIME))
      state.alarmAt = .max
      if let earliest = state.sleepers.earliest { setAlarm(earliest, &state) }
      return due
    }
    due.forEach { $0() }
  }
}
