import Dispatch
import Glibc
import Synchronization

/// Runs blocking work sequentially on its own thread. The thread ends when there has been no work for `linger`
/// milliseconds.
///
/// Dispatch queues are unsuitable, because Dispatch reads the state of its threads from `/proc` every second while work
/// is queued, and aborts the process if there are no file descriptors left.
package final class WorkerThread: Sendable {
  package typealias Work = @Sendable () -> Void

  private enum Condition {
    case absent, idle, working
  }

  private struct State {
    var waiting: [Work] = []
    var condition = Condition.absent
  }

  private let linger: DispatchTimeInterval
  private let state = Mutex(State())
  private let arrived = DispatchSemaphore(value: 0)

  /// Creates a worker. `linger` is the time that its thread waits for more work, in milliseconds.
  package init(linger: Int = 1000) {
    self.linger = .milliseconds(linger)
  }

  /// Runs `work` once, on a new thread.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await WorkerThread(linger: 0).run(work)
  }

  /// Runs `work` on this thread, after all work that was enqueued earlier.
  package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in enqueue { continuation.resume(returning: work()) } }
  }

  package func enqueue(_ work: @escaping Work) {
    let before = state.withLock { state in
      state.waiting.append(work)
      defer { state.condition = .working }
      return state.condition
    }
    switch before {
    case .absent: start()
    case .idle: arrived.signal()
    case .working: break
    }
  }

  private func start() {
    var thread = pthread_t()
    let worker = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { worker in
        pthread_detach(pthread_self())
        if let worker { Unmanaged<WorkerThread>.fromOpaque(worker).takeRetainedValue().work() }
        return nil
      }, worker.toOpaque())
    guard result != 0 else { return }
    // The system cannot create a thread now, so run the work on Dispatch.
    worker.release()
    DispatchQueue.global().async { self.work() }
  }

  private func work() {
    while let pieces = next() {
      for piece in pieces { piece() }
    }
  }

  /// Returns the next pieces of work, or `nil` if the thread has been idle long enough to end.
  private func next() -> [Work]? {
    var hasLingered = false
    while true {
      let pieces: [Work]? = state.withLock { state in
        guard state.waiting.isEmpty else {
          defer { state.waiting = [] }
          return state.waiting
        }
        state.condition = hasLingered ? .absent : .idle
        return nil
      }
      if let pieces { return pieces }
      if hasLingered { return nil }
      hasLingered = arrived.wait(timeout: .now() + linger) == .timedOut
    }
  }
}
