internal import Synchronization

/// Wakes the one task that waits. A signal that is sent while no task waits is kept for the next wait.
final class AsyncSignal: Sendable {
  private struct State {
    var isSent = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func send() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      if state.waiter == nil { state.isSent = true }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Returns at the next signal, or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSent = state.withLock { state in
          guard !state.isSent, !Task.isCancelled else {
            state.isSent = false
            return true
          }
          state.waiter = continuation
          return false
        }
        if isSent { continuation.resume() }
      }
    } onCancel: {
      send()
    }
  }
}
