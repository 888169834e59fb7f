import HearthCore
import Testing

@Suite("The mutex whose owner may suspend")
struct AsyncMutexTests {
  private struct Failure: Error {}

  /// Counts how many callers hold the lock at once, and suspends while it is held.
  private actor Count {
    let mutex = AsyncMutex()
    private(set) var now = 0
    private(set) var most = 0

    func hold() async {
      await mutex.withLock {
        now += 1
        most = max(most, now)
        for _ in 0..<3 { await Task.yield() }
        now -= 1
      }
    }
  }

  @Test("Only one caller holds the lock at a time, and every caller gets it")
  func oneAtATime() async {
    let count = Count()
    await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await count.hold() } }
    }
    #expect(await count.most == 1)
  }

  @Test("A body that throws releases the lock")
  func throwing() async {
    let mutex = AsyncMutex()
    await #expect(throws: Failure.self) { try await mutex.withLock { throw Failure() } }
    #expect(await mutex.withLock { 1 } == 1)
  }
}
