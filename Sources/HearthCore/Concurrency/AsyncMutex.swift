/// A mutex that can be held across suspension points. Waiting callers acquire it in first-in, first-out order.
package actor AsyncMutex {
  private var isLocked = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Runs `body` with the lock held, and releases the lock when `body` returns or throws.
  package nonisolated func withLock<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await lock()
    do {
      let value = try await body()
      await unlock()
      return value
    } catch {
      await unlock()
      throw error
    }
  }

  private func lock() async {
    guard isLocked else { return isLocked = true }
    await withCheckedContinuation { waiters.append($0) }
  }

  private func unlock() {
    if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
  }
}
