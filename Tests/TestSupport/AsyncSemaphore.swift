/// Lets a limited number of tasks do something at once, and the others wait in their order of arrival.
package actor AsyncSemaphore {
  private var free: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  package init(_ count: Int) {
    free = count
  }

  package nonisolated func withTurn<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    await wait()
    do {
      let value = try await body()
      await signal()
      return value
    } catch {
      await signal()
      throw error
    }
  }

  private func wait() async {
    guard free == 0 else { return free -= 1 }
    await withCheckedContinuation { waiters.append($0) }
  }

  private func signal() {
    if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
  }
}
