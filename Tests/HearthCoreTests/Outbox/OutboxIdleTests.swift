import TestSupport
import Testing

@testable import HearthCore

@Suite("The outbox's machine, asked what is left to do,")
struct OutboxIdleTests {
  @Test("is not idle before what came of the last request is written down")
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

  @Test("has asked the store once that has answered, or has failed to")
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

  @Test("lists a hundred items on a page where nobody says how many")
  func page() {
    #expect(OutboxQuery().limit == 100)
  }

  @Test("writes down what came of requests with the next that it asks the store for, though that could wait")
  func writesWithTheDemand() throws {
    var outbox = OutboxScript()
    // Quick deliveries have more claimed ahead, and then one alone is not worth a transaction.
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

  @Test("tells once each why sending is paused, and that it goes on")
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
