import HearthControl
import HearthCore
import HearthThreads
import Synchronization

/// Follows events across restarts of the daemon. A thread of its own waits for them, so that no task is held up.
final class EventFeed: Sendable {
  /// Where it is heard; nil while the daemon is away.
  fileprivate struct Ear: ~Copyable {
    var client: ControlClient
    var follower: EventFollower
  }

  private struct State: ~Copyable {
    var ear: Ear?
    var pauses = ReconnectPauses()
    /// Not to be tried before.
    var nextTry: ContinuousClock.Instant?
    /// It was told that the daemon is away.
    var isAway = false
  }

  private let path: String
  private let patience: Duration
  private let account: String?
  private let worker = WorkerThread()
  private let waker = Waker()
  private let isCancelled = Atomic(false)
  /// The worker's: it holds the lock while it waits for the daemon, and nobody else takes it.
  private let state = Mutex(State())

  init(path: String, patience: Duration, account: String?) {
    (self.path, self.patience, self.account) = (path, patience, account)
  }

  /// Nil when the task is cancelled, and from then on.
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
      do throws(ControlClient.Failure) {
        guard let event = try hear(&state) else { continue }
        (state.isAway, state.nextTry) = (false, nil)
        state.pauses.reset()
        return event
      } catch .interrupted {
        continue
      } catch {
        state.ear = nil
        state.nextTry = .now + state.pauses.next()
        guard !state.isAway else { continue }
        state.isAway = true
        return .unavailable(HearthClient.Failure(error))
      }
    }
    state.ear = nil
    return nil
  }

  /// Nil for what means nothing to a program.
  private func hear(_ state: inout State) throws(ControlClient.Failure) -> HearthClient.Event? {
    if state.ear == nil { state.ear = try connect() }
    return try state.ear?.next()
  }

  private func connect() throws(ControlClient.Failure) -> Ear {
    let subscribe: Subscribe
    do throws(RPCError) {
      subscribe = Subscribe(account: try AccountName.asked(account))
    } catch {
      throw .refused(error)
    }
    let client = try ControlClient(
      path: path, patience: patience, connecting: min(patience, ControlClient.connectingPatience), waker: waker)
    return Ear(client: client, follower: EventFollower(subscribe))
  }
}

extension EventFeed.Ear {
  fileprivate mutating func next() throws(ControlClient.Failure) -> HearthClient.Event? {
    guard let step = try follower.next(from: &client) else { return nil }
    return HearthClient.Event(step)
  }
}
