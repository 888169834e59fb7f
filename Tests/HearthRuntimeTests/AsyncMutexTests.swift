import HearthRuntime
import Testing

@Suite("Turns")
struct AsyncMutexTests {
  /// Counts who has a turn, and suspends in it.
  private actor Count {
    let turns = AsyncMutex()
    private(set) var now = 0
    private(set) var most = 0

    func takeTurn() async {
      await turns.take()
      now += 1
      most = max(most, now)
      for _ in 0..<3 { await Task.yield() }
      now -= 1
      await turns.pass()
    }
  }

  @Test("One has the turn at a time, and everybody gets one")
  func oneAtATime() async {
    let count = Count()
    await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await count.takeTurn() } }
    }
    #expect(await count.most == 1)
  }
}
