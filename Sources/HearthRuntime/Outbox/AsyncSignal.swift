internal import Synchronization

/// Wakes one who waits. A ring that nobody waits for is kept.
final class AsyncSignal: Sendable {
  private struct State {
    var isRung = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func ring() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.isRung = true }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Returns at the next ring, or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRung = state.withLock { state in
          guard !state.isRung, !Task.isCancelled else {
            state.isRung = false
            return true
          }
          state.waiting = continuation
          return false
        }
        if isRung { continuation.resume() }
      }
    } onCancel: {
      ring()
    }
  }
}
