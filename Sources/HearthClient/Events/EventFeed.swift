import HearthControl
import HearthCore
import HearthThreads
import Synchronization

/// Delivers events and reconnects when the daemon restarts. Waits on a dedicated thread, so that no task blocks.
final class EventFeed: Sendable {
  private struct State: ~Copyable {
    var client: ControlClient?
    /// Follows the events of `client`.
    var follower: EventFollower?
    var pauses = ReconnectPauses()
    var nextTry: ContinuousClock.Instant?
    /// Whether the reader has been told that the daemon is unreachable.
    var isAway = false
  }

  private let path: String
  private let timeout: Duration
  private let account: String?
  private let worker = WorkerThread()
  private let waker = Waker()
  private let isCancelled = Atomic(false)
  /// Accessed only by the worker, which holds the lock while it waits for the daemon.
  private let state = Mutex(State())

  init(path: String, timeout: Duration, account: String?) {
    (self.path, self.timeout, self.account) = (path, timeout, account)
  }

  /// Returns the next event, or `nil` once the task is cancelled.
  func next() async -> HearthClient.Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        worker.enqueue { continuation.resume(returning: self.state.withLock { self.next(&$0) }) }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
      waker.wake()
    }
  }

  // MARK: - On the thread

  private func next(_ state: inout State) -> HearthClient.Event? {
    while !isCancelled.load(ordering: .relaxed) {
      if let nextTry = state.nextTry, nextTry > .now {
        waker.sleep(until: nextTry)
        continue
      }
      do {
        guard let event = try nextEvent(&state) else { continue }
        (state.isAway, state.nextTry) = (false, nil)
        state.pauses.reset()
        return event
      } catch ControlClient.Failure.interrupted {
        continue
      } catch {
        state.client = nil
        state.nextTry = .now + state.pauses.next()
        guard !state.isAway else { continue }
        state.isAway = true
        return .unavailable(HearthClient.Failure(ControlClient.Failure(error)))
      }
    }
    state.client = nil
    return nil
  }

  /// Returns the next event, or `nil` for a step that is not reported as an event.
  private func nextEvent(_ state: inout State) throws -> HearthClient.Event? {
    if state.client == nil { try connect(&state) }
    guard let step = try state.follower?.next(from: &state.client!) else { return nil }
    return HearthClient.Event(step)
  }

  private func connect(_ state: inout State) throws {
    state.follower = EventFollower(Subscribe(account: try AccountName.asked(account)))
    state.client = try ControlClient(
      path: path, timeout: timeout, connecting: min(timeout, ControlClient.connectingTimeout), waker: waker)
  }
}
