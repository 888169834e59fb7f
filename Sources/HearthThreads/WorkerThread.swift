import Dispatch
import Glibc
import Synchronization

/// Runs work that blocks, one piece after another, on a thread of its own. The thread is there while there is work, and for
/// a second longer.
///
/// Dispatch's own threads are not used: each second while work waits for them it looks at them through files in `/proc`,
/// and where the process has no descriptor left it ends the process.
package final class WorkerThread: Sendable {
  package typealias Work = @Sendable () -> Void

  private enum Condition {
    case absent, working
    /// It waits for the next piece.
    case idle
  }

  private struct State {
    var waiting: [Work] = []
    var condition = Condition.absent
  }

  private let linger: DispatchTimeInterval
  private let state = Mutex(State())
  private let arrived = DispatchSemaphore(value: 0)

  /// `linger`: how long the thread waits for more work, in milliseconds.
  package init(linger: Int = 1000) {
    self.linger = .milliseconds(linger)
  }

  /// Runs `work` once on a thread of its own.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await WorkerThread(linger: 0).run(work)
  }

  /// Runs `work` once on this thread, after all that was given to it before.
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
    // The system gives no thread now: late is better than never.
    worker.release()
    DispatchQueue.global().async { self.work() }
  }

  private func work() {
    while let pieces = next() {
      for piece in pieces { piece() }
    }
  }

  /// What to do next; nil if nothing came for so long that the thread ends.
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
