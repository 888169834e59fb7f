import TestSupport
import Testing

@testable import HearthCore

@Suite("The outbox's machine, asked what is left to do,")
struct OutboxIdleTests {
  @Test("is not idle before the outcome of the last request is written")
  func underWay() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    #expect(!outbox.machine.isIdle(Sample.work, at: outbox.now), "it is claimed")
    let id = try outbox.first()
    #expect(!outbox.machine.isIdle(Sample.work, at: outbox.now), "it is sent")
    outbox.answer(id, 200)
    outbox.step(id)
    #expect(!outbox.machine.isIdle(Sample.work, at: outbox.now), "it is settled")
    outbox.run()
    #expect(outbox.machine.isIdle(Sample.work, at: outbox.now))
  }

  @Test("has asked the store once the store has answered or failed")
  func hasAsked() throws {
    var outbox = OutboxScript(restarted: OutboxSettings())
    #expect(!outbox.machine.hasAskedStore)
    let next = outbox.machine.nextStoreWork(at: outbox.now)
    let work = try #require(next)
    outbox.machine.storeFailed(work, at: outbox.now)
    #expect(outbox.machine.hasAskedStore)
    outbox.now = outbox.now + .seconds(60)
    outbox.run()
    #expect(outbox.machine.hasAskedStore)
  }

  @Test("lists a hundred items per page by default")
  func page() {
    #expect(OutboxQuery().limit == 100)
  }

  @Test("writes outcomes with the next demand to the store, even if they could wait")
  func writesWithTheDemand() throws {
    var outbox = OutboxScript()
    // With quick deliveries more is claimed ahead, and a single outcome is not worth a transaction.
    for _ in 0..<40 {
      outbox.run(claiming: [outbox.claim(nil)])
      for id in outbox.start() {
        outbox.answer(id, 200)
        outbox.step(id)
      }
    }
    outbox.run(claiming: [outbox.claim(nil), outbox.claim(nil)])
    let id = try outbox.first()
    outbox.answer(id, 200)
    outbox.step(id)
    outbox.machine.ready([Sample.work: .all])
    guard case .exchange(let request)? = outbox.machine.nextStoreWork(at: outbox.now) else {
      throw Violation("The store is not asked.")
    }
    #expect(!request.demands.isEmpty)
    #expect(request.settled.map(\.outcome) == [.delivered(status: 200)])
  }

  @Test("reports once each why sending is paused, and that it has resumed")
  func pauses() {
    var outbox = OutboxScript()
    _ = outbox.machine.takePauseChanges()
    outbox.block("locked")
    outbox.block("locked")
    outbox.signIn()
    #expect(outbox.machine.takePauseChanges().map(\.reason) == ["locked", nil])
    #expect(outbox.machine.takePauseChanges().isEmpty)
  }
}
