/// A mutex whose owner may suspend while it holds the lock. Callers get the lock in the order in which they ask for it.
package actor AsyncMutex {
  private var isLocked = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Runs `body` while no other caller holds the lock, and unlocks whether `body` returns or throws.
  package nonisolated func withLock<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await lock()
    do throws(Failure) {
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

  /// Hands the lock to the next caller, if one waits.
  private func unlock() {
    if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() }
  }
}
