import Dispatch
import Synchronization
import Testing

@testable import HearthThreads

@Suite("Worker threads", .timeLimit(.minutes(1)))
struct WorkerThreadTests {
  @Test("work is done in its order, one piece after another, however many ask")
  func order() async {
    let worker = WorkerThread()
    let done = Mutex<[Int]>([])
    for number in 0..<1000 { worker.enqueue { done.withLock { $0.append(number) } } }
    await withCheckedContinuation { continuation in worker.enqueue { continuation.resume() } }
    #expect(done.withLock(\.self) == Array(0..<1000))
  }

  @Test("what comes while the thread waits, or ends, or has ended, is done", arguments: [0, 1, 100])
  func idle(_ linger: Int) async {
    let worker = WorkerThread(linger: linger)
    for _ in 0..<100 { await withCheckedContinuation { continuation in worker.enqueue { continuation.resume() } } }
  }

  @Test("a thread that blocks keeps no other from its work")
  func apart() async {
    let gate = DispatchSemaphore(value: 0)
    let blocked = WorkerThread()
    blocked.enqueue { gate.wait() }
    let result = await WorkerThread.run { 1 }
    gate.signal()
    #expect(result == 1)
  }
}
