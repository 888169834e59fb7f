import TestSupport
import Testing

@testable import HearthCore

/// The store has its own clock.
@Suite("The outbox's machine, whatever the store's clock shows,") struct StoreTimeTests {
  /// Answers an exchange from a store whose clock shows `storeTime` then, and in which an item is due `wait` later.
  private func wakes(
    asking outbox: inout OutboxScript, storeTime: Timestamp, wait: Duration,
    meanwhile: (inout OutboxScript) -> Void = { _ in }
  ) throws -> Timestamp {
    outbox.machine.ready([Sample.work: .all])
    guard case .exchange(let request)? = outbox.machine.nextStoreWork(at: outbox.now) else {
      throw Violation("The store is not asked.")
    }
    meanwhile(&outbox)
    var exchange = OutboxExchange(at: storeTime)
    exchange.claimed[Sample.work] = OutboxExchange.Claimed()
    exchange.claimed[Sample.work]?.nextDueAt = storeTime + wait
    outbox.machine.exchanged(exchange, request, at: outbox.now)
    return outbox.machine.nextWake(after: outbox.now)
  }

  @Test(
    "wakes after the wait that the store reports, whatever its clock shows", arguments: [-86_400, -1, 0, 1, 86_400])
  func storeClockApart(_ lead: Int64) throws {
    var outbox = OutboxScript()
    let woken = try wakes(asking: &outbox, storeTime: outbox.now + .seconds(lead), wait: .seconds(10))
    #expect(woken == outbox.now + .seconds(10))
  }

  @Test("does not wake later because the store was slow to answer")
  func slowStore() throws {
    var outbox = OutboxScript()
    let asked = outbox.now
    let woken = try wakes(asking: &outbox, storeTime: asked + .seconds(2), wait: .seconds(10)) { outbox in
      outbox.now = asked + .seconds(5)
    }
    #expect(woken == asked + .seconds(12))
  }

  @Test("wakes after the wait that the store reports, even if its own clock was set while the store worked")
  func stepWhileStoreWorks() throws {
    var outbox = OutboxScript()
    let asked = outbox.now
    let woken = try wakes(asking: &outbox, storeTime: asked, wait: .seconds(10)) { outbox in
      outbox.now = asked + .seconds(3600)
      outbox.machine.clockStepped(by: .seconds(3600))
    }
    #expect(woken == outbox.now + .seconds(10))
  }

  @Test("does not resend an item whose result has been unknown for too long by the age that the store reports")
  func unknownByStoreTime() throws {
    var outbox = OutboxScript()
    let storeTime = outbox.now - .seconds(40 * 86_400)
    outbox.machine.ready([Sample.work: .all])
    guard case .exchange(let request)? = outbox.machine.nextStoreWork(at: outbox.now) else {
      throw Violation("The store is not asked.")
    }
    var exchange = OutboxExchange(at: storeTime)
    exchange.claimed[Sample.work] = OutboxExchange.Claimed()
    exchange.claimed[Sample.work]?.claims = [
      outbox.claim("young", unknownSince: storeTime - .seconds(3600)),
      outbox.claim("old", unknownSince: storeTime - .seconds(24 * 3600 + 1)),
    ]
    outbox.machine.exchanged(exchange, request, at: outbox.now)
    let sent = outbox.machine.startSenders(at: outbox.now).compactMap { outbox.step($0).sent }
    #expect(sent.count == 1)
  }

  @Test("reports how long ago an outcome came, even if the clock was set and the store has failed to write it")
  func ageOfOutcomes() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.answer(id, 503)
    outbox.step(id)
    outbox.now = outbox.now + .seconds(2)
    guard case .exchange(let first)? = outbox.machine.nextStoreWork(at: outbox.now) else {
      throw Violation("The store is not asked.")
    }
    #expect(first.settled.map(\.age) == [.seconds(2)])
    outbox.now = outbox.now + .seconds(3600)
    outbox.machine.clockStepped(by: .seconds(3600))
    outbox.machine.storeFailed(.exchange(first), at: outbox.now)
    outbox.now = outbox.now + .seconds(1)
    outbox.run()
    #expect(outbox.settled.map(\.age) == [.seconds(3)])
  }

  @Test("has the store sweep after a discard, and each minute while it has content that it could not wipe")
  func unwiped() {
    var outbox = OutboxScript()
    func sweeps() -> Int { outbox.works.count { if case .prune = $0 { true } else { false } } }
    let before = sweeps()
    outbox.leavesContent = true
    outbox.machine.discarding(Sample.work, at: outbox.now)
    outbox.machine.discarded(Sample.work, at: outbox.now)
    for (wait, count) in [(1, 1), (59, 1), (1, 2), (60, 3)] as [(Int64, Int)] {
      outbox.now = outbox.now + .seconds(wait)
      outbox.run()
      #expect(sweeps() == before + count)
      if count == 2 { outbox.leavesContent = false }
    }
    #expect(outbox.machine.nextWake(after: outbox.now) > outbox.now + .seconds(3600))
  }

  @Test("has the store check its clock when the clock was set, even if nothing can be claimed")
  func stepWhileLocked() {
    var outbox = OutboxScript()
    outbox.block("locked")
    outbox.run()
    outbox.machine.clockStepped(by: .seconds(3600))
    #expect(outbox.machine.nextStoreWork(at: outbox.now) == .expire(nil))
  }

  @Test("forgets no item that came while the store was asked when the next one expires", arguments: [false, true])
  func expiryMeanwhile(_ isExchange: Bool) throws {
    var outbox = OutboxScript()
    let asked = outbox.now
    if isExchange {
      outbox.machine.ready([Sample.work: .all])
    } else {
      outbox.block("locked")
      outbox.run()
      outbox.machine.clockStepped(by: .seconds(1))
      outbox.machine.serverAnswered(Sample.work, skew: .zero)
    }
    let next = outbox.machine.nextStoreWork(at: asked)
    outbox.machine.enqueued([], expiring: asked + .seconds(5), mayReplace: false, at: outbox.now)
    switch try #require(next) {
    case .exchange(let request): outbox.machine.exchanged(OutboxExchange(at: asked), request, at: asked)
    case .expire: outbox.machine.expired(next: asked + .seconds(60))
    default: throw Violation("The store is not asked.")
    }
    outbox.now = asked + .seconds(5)
    outbox.run()
    #expect(outbox.works.contains(.expire(outbox.now)))
  }
}
