import TestSupport
import Testing

@testable import HearthCore

@Suite("The outbox's machine") struct OutboxMachineTests {
  // MARK: - What may be sent

  @Test("sends a lane's deliveries one after the other, and writes the outcome of each")
  func lane() throws {
    var outbox = OutboxScript()
    let claim = outbox.claim(count: 2)
    outbox.run(claiming: [claim])
    let id = try outbox.first()
    outbox.answer(id, 200)
    #expect(outbox.step(id).sent == claim.deliveries[1].number)
    outbox.answer(id, 503)
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.settled.map(\.number) == claim.deliveries.map(\.number))
    #expect(outbox.settled.first?.outcome == .delivered(status: 200))
  }

  @Test("does not send an item that has expired since it was claimed")
  func expired() throws {
    var outbox = OutboxScript()
    let claim = outbox.claim(expiresAt: outbox.now + .seconds(10))
    outbox.run(claiming: [claim])
    outbox.now = outbox.now + .seconds(10)
    let id = try outbox.firstUnstepped()
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.settled.map(\.outcome) == [.released])
  }

  @Test("keeps an item that has not expired by the servers' time, even if this clock is ahead")
  func expiredHere() throws {
    var outbox = OutboxScript()
    outbox.machine.serverAnswered(Sample.work, skew: .seconds(-3600))
    outbox.run(claiming: [outbox.claim(expiresAt: outbox.now - .seconds(10))])
    let id = try outbox.firstUnstepped()
    #expect(outbox.step(id).sent != nil)
  }

  @Test("sends nothing of a user whose items are being discarded, not even claimed items")
  func discarding() throws {
    var outbox = OutboxScript()
    let (lane, waiting) = (outbox.claim("a", count: 3), outbox.claim("b"))
    outbox.run(claiming: [lane])
    let id = try outbox.first()
    outbox.run(claiming: [waiting])
    outbox.machine.discarding(Sample.work, at: outbox.now)
    #expect(outbox.start().isEmpty)
    outbox.answer(id, 200)
    #expect(outbox.step(id) == .end)
    #expect(outbox.run().isEmpty)
    #expect(Set(outbox.released) == [lane.epoch, waiting.epoch])
    outbox.machine.discarded(Sample.work, at: outbox.now)
    #expect(outbox.run().count == 1)
  }

  @Test("discards the items of the user who has signed out, and none of the previous user's")
  func discardingLater() {
    var outbox = OutboxScript()
    outbox.signIn(Sample.work, Sample.bob)
    outbox.machine.sessionChanged(
      Sample.work, permission: .blocked(reason: "signedOut"), knownSubject: nil, formerly: nil, token: nil,
      at: outbox.now)
    #expect(outbox.machine.subjects(of: Sample.work) == [nil, Sample.bob])
    outbox.signIn(Sample.work, Sample.alice)
    #expect(outbox.machine.subjects(of: Sample.work) == [nil, Sample.alice])
  }

  @Test("asks for no token and sends nothing if the claim is no longer valid")
  func revoked() throws {
    var outbox = OutboxScript()
    let (first, second) = (outbox.claim("a"), outbox.claim("a"))
    outbox.run(claiming: [first])
    let id = try outbox.first()
    outbox.machine.revoked(id, at: outbox.now)
    #expect(outbox.step(id) == .end)
    outbox.run(claiming: [second])
    #expect(outbox.settled.isEmpty)
    #expect(outbox.released == [first.epoch])
    #expect(outbox.start().count == 1)
  }

  // MARK: - Origins and time

  @Test("releases the claims for an unreachable origin without trying them")
  func originDown() throws {
    var settings = OutboxSettings()
    settings.concurrency = 1
    var outbox = OutboxScript(settings)
    // With quick deliveries more is claimed ahead.
    for _ in 0..<40 {
      outbox.run(claiming: [outbox.claim(nil)])
      for id in outbox.start() {
        outbox.answer(id, 200)
        outbox.step(id)
      }
    }
    let claims = (0..<20).map { _ in outbox.claim(nil) }
    outbox.run(claiming: claims)
    let id = try outbox.first()
    outbox.machine.responded(
      .failure(.notSent(message: "Connection refused")), for: id, isCancelled: false, at: outbox.now)
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.released.count == 19)
    #expect(outbox.machine.pausedReason(of: Sample.work) == nil, "the other origin may be reached")
  }

  @Test("does not wait for an origin that a reload has removed")
  func droppedOrigin() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.responded(
      .failure(.notSent(message: "Connection refused")), for: id, isCancelled: false, at: outbox.now)
    outbox.step(id)
    outbox.now = outbox.now + .seconds(10)
    #expect(!outbox.machine.isIdle(Sample.work, at: outbox.now))
    outbox.machine.accountsChanged([Sample.work: [Sample.secondOrigin]], settings: OutboxSettings(), at: outbox.now)
    outbox.run()
    #expect(outbox.machine.isIdle(Sample.work, at: outbox.now))
  }

  @Test("uses this clock if an API reports no time in eight responses")
  func noDate() throws {
    var outbox = OutboxScript()
    outbox.machine.clockStepped(by: .seconds(1))
    for _ in 1...8 {
      #expect(outbox.machine.sweeps.agreedTime(at: outbox.now) == nil)
      outbox.run(claiming: [outbox.claim()])
      let id = try outbox.first()
      outbox.answer(id, 200, skew: nil)
      outbox.step(id)
    }
    #expect(outbox.machine.sweeps.agreedTime(at: outbox.now) == outbox.now)
  }

  @Test("removes items beyond the maximum number even if no server has reported the time")
  func pruneWithoutTime() {
    var outbox = OutboxScript()
    outbox.machine.clockStepped(by: .seconds(1))
    outbox.now = outbox.now + .seconds(3 * 3600 + 1)
    outbox.run()
    #expect(outbox.works.contains(.prune(nil)))
  }

  @Test("sweeps expired and old items after a start without traffic, once a server has reported the time")
  func sweepsAtStart() {
    var outbox = OutboxScript(restarted: OutboxSettings())
    (outbox.nextExpiryAt, outbox.nextPruneAt) = (outbox.now - .seconds(10), outbox.now - .seconds(10))
    outbox.block("locked")
    outbox.run()
    #expect(outbox.machine.timesToAsk(at: outbox.now).map(\.origin) == [Sample.origin])
    #expect(outbox.machine.timesToAsk(at: outbox.now).isEmpty)
    outbox.machine.serverAnswered(Sample.work, skew: .zero)
    outbox.run()
    #expect(outbox.works.filter { $0 == .expire(outbox.now) || $0 == .prune(outbox.now) }.count == 2)
  }

  @Test("asks for the time at most every quarter of an hour, and when the network returns")
  func sweepTime() {
    var outbox = OutboxScript(restarted: OutboxSettings())
    outbox.nextExpiryAt = outbox.now + .seconds(60)
    outbox.run()
    #expect(outbox.machine.timesToAsk(at: outbox.now).isEmpty)
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .seconds(60))
    outbox.now = outbox.now + .seconds(60)
    #expect(outbox.machine.timesToAsk(at: outbox.now).count == 1)
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .seconds(900))
    #expect(outbox.machine.timesToAsk(at: outbox.now + .seconds(899)).isEmpty)
    outbox.machine.networkReturned(at: outbox.now)
    #expect(outbox.machine.timesToAsk(at: outbox.now).count == 1)
  }

  @Test("claims apparently expired items again if a server has reported the time while the store worked")
  func timeToldMeanwhile() throws {
    var outbox = OutboxScript()
    outbox.machine.clockStepped(by: .seconds(1))
    var demanded: OutboxRequest?
    while demanded == nil, let work = outbox.machine.nextStoreWork(at: outbox.now) {
      if case .exchange(let request) = work { demanded = request }
    }
    outbox.machine.serverAnswered(Sample.work, skew: .zero)
    var exchange = OutboxExchange(at: outbox.now)
    exchange.claimed[Sample.work] = OutboxExchange.Claimed()
    exchange.claimed[Sample.work]?.timeNeededFrom = Sample.origin
    outbox.machine.exchanged(exchange, try #require(demanded), at: outbox.now)
    #expect(outbox.run().count == 1)
  }

  @Test("continues to send if a sweep fails, and sweeps again a minute later")
  func sweepFails() {
    var outbox = OutboxScript()
    let swept = outbox.works.count
    outbox.now = outbox.now + .seconds(3 * 3600)
    outbox.machine.storeFailed(.prune(outbox.now), at: outbox.now)
    #expect(outbox.run(claiming: [outbox.claim()]).count == 1)
    #expect(!outbox.works[swept...].contains(.prune(outbox.now)))
    outbox.now = outbox.now + .seconds(60)
    outbox.run()
    #expect(outbox.works[swept...].contains(.prune(outbox.now)))
  }

  @Test("asks no server for the time if there is nothing to sweep")
  func nothingToSweep() {
    var outbox = OutboxScript(restarted: OutboxSettings())
    outbox.nextPruneAt = outbox.now + .seconds(10)
    outbox.run()
    #expect(outbox.works.contains(.expire(nil)) && outbox.works.contains(.prune(nil)))
    #expect(outbox.machine.timesToAsk(at: outbox.now).isEmpty)
  }

  @Test("keeps the age of an unknown result when the clock is stepped")
  func steppedClock() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim(unknownSince: outbox.now)])
    outbox.now = outbox.now + .seconds(48 * 3600)
    outbox.machine.clockStepped(by: .seconds(48 * 3600))
    let id = try outbox.firstUnstepped()
    #expect(outbox.step(id).sent != nil)
  }

  // MARK: - Limits

  @Test("lets lanes with hanging requests delay other lanes by at most a second")
  func hungLanes() {
    var outbox = OutboxScript()
    let hung = (0..<64).map { outbox.claim("hung \($0)") }
    outbox.run(claiming: hung)
    #expect(outbox.start().count == 64)
    let healthy = outbox.claim("healthy")
    outbox.run(claiming: [healthy])
    #expect(outbox.start().isEmpty)
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .seconds(1))
    outbox.now = outbox.now + .seconds(1)
    outbox.run(claiming: [healthy])
    #expect(outbox.start().count == 1)
  }

  @Test("claims only some of the lanes whose last request got no answer")
  func unansweredLanes() {
    var outbox = OutboxScript()
    let claims = (0..<10).map { outbox.claim("lane \($0)", unknownSince: outbox.now) }
    let first = outbox.run(claiming: claims)
    #expect(first.first?.rooms[Sample.origin]?.unanswered == 16)
    outbox.machine.ready([Sample.work: .lanes])
    #expect(outbox.run().first?.rooms[Sample.origin]?.unanswered == 6)
    outbox.start()
    outbox.machine.ready([Sample.work: .lanes])
    #expect(outbox.run().first?.rooms[Sample.origin]?.unanswered == 6, "they hold their share until they are answered")
  }

  @Test("limits what all accounts have claimed, but lets each have one item")
  func memory() {
    var outbox = OutboxScript(accounts: [Sample.work, Sample.other])
    let large = (0..<4).map { outbox.claim("lane \($0)", bytes: 16 << 20) }
    outbox.run(claiming: large)
    outbox.start()
    outbox.machine.ready([Sample.work: .all, Sample.other: .all])
    let demands = outbox.run()
    #expect(demands.map { $0.rooms[Sample.origin]?.lanes } == [64, 0])
    #expect(demands.first?.rooms[Sample.origin]?.bytes == 1)
  }

  @Test("does not look at accounts to which nothing happens")
  func quiet() {
    var outbox = OutboxScript(accounts: [Sample.work, Sample.other])
    _ = outbox.machine.nextWake(after: outbox.now)
    #expect(outbox.machine.awake.isEmpty)
    outbox.machine.ready([Sample.other: .lanes])
    #expect(outbox.machine.awake == [Sample.other])
  }

  // MARK: - The end and reloads

  @Test("writes the outcome of a request whose account a reload has removed")
  func removedAccount() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.accountsChanged([:], settings: OutboxSettings(), at: outbox.now)
    #expect(outbox.machine.names.isEmpty)
    outbox.answer(id, 200)
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.settled.map(\.outcome) == [.delivered(status: 200)])
    #expect(outbox.machine.accounts.isEmpty)
  }

  @Test("waits for no probe of an unreachable origin that a reload has removed during a request")
  func removedOrigin() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.accountsChanged([Sample.work: [Sample.secondOrigin]], settings: OutboxSettings(), at: outbox.now)
    outbox.machine.responded(
      .failure(.notSent(message: "connection refused")), for: id, isCancelled: false, at: outbox.now)
    outbox.step(id)
    outbox.run()
    #expect(outbox.settled.count == 1)
    #expect(outbox.machine.accounts[Sample.work]?.breaker.nextProbeAt == nil)
  }

  @Test("lets no sender wait for the cause of a 401 when it stops")
  func stopsWhileJudging() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a"), outbox.claim("b")])
    let ids = outbox.start()
    // A refresh replaces the token, which is then also answered with 401.
    outbox.answer(ids[0], 401)
    #expect(
      outbox.step(ids[0])
        == .replaceBearer(
          APIRejection(outbox.token(1).fingerprint, at: try HTTPURL("\(Sample.origin)/1000")), Sample.work))
    outbox.machine.received(.success(outbox.bearer(2)), for: ids[0], at: outbox.now)
    #expect(outbox.step(ids[0]).sent != nil)
    outbox.answer(ids[0], 401)
    #expect(outbox.step(ids[0], bearer: 2) == .wait)
    outbox.machine.stop(grace: .zero, at: outbox.now)
    #expect(outbox.machine.takeResumed() == [ids[0]])
    #expect(outbox.step(ids[0]) == .end)
  }

  @Test("keeps outcomes while the store fails, and asks again after half a second")
  func storeFails() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.answer(id, 200)
    outbox.step(id)
    let next = outbox.machine.nextStoreWork(at: outbox.now)
    let work = try #require(next)
    outbox.machine.storeFailed(work, at: outbox.now)
    #expect(outbox.machine.nextStoreWork(at: outbox.now) == nil)
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .milliseconds(500))
    outbox.now = outbox.now + .milliseconds(500)
    outbox.run()
    #expect(outbox.settled.map(\.outcome) == [.delivered(status: 200)])
  }

  @Test(
    "After the store broke, its claims are released, its probes are repeated, and pauses stay")
  func brokenStore() throws {
    var outbox = OutboxScript(accounts: [Sample.work, Sample.other])
    let number = outbox.machine.nextPauseNumber()
    outbox.machine.paused([Sample.other], true, number: number, at: outbox.now)
    outbox.run(claiming: [outbox.claim("a")])
    let id = try outbox.first()
    outbox.machine.responded(.failure(.notSent(message: "no")), for: id, isCancelled: false, at: outbox.now)
    outbox.now = outbox.now + .seconds(60)
    let probe = outbox.claim("a")
    #expect(outbox.run(claiming: [probe]).contains { $0.rooms.filter(\.value.isProbe).map(\.key) == [Sample.origin] })
    outbox.machine.storeBroke(at: outbox.now)
    #expect(outbox.run().contains { $0.rooms.filter(\.value.isProbe).map(\.key) == [Sample.origin] })
    #expect(outbox.works.contains(.recover(pausing: [Sample.other])))
    #expect(outbox.released.contains(probe.epoch))
    #expect(outbox.start().isEmpty)
  }

  @Test("claims again what the store offered while an item without a user arrived that has to be bound first")
  func boundMeanwhile() throws {
    var outbox = OutboxScript()
    outbox.machine.ready([Sample.work: .all])
    guard case .exchange(let request)? = outbox.machine.nextStoreWork(at: outbox.now) else {
      throw Violation("The store is not asked.")
    }
    let item = OutboxItem(
      id: "1", account: Sample.work, subject: nil, lane: "a", method: "POST", url: "\(Sample.origin)/1",
      state: .pending,
      createdAt: outbox.now, idempotencyKey: "1", bytes: 1)
    outbox.machine.enqueued(
      [OutboxReceipt(item: item, isDuplicate: false)], expiring: nil, mayReplace: false, at: outbox.now)
    var exchange = OutboxExchange(at: outbox.now)
    exchange.claimed[Sample.work] = OutboxExchange.Claimed()
    exchange.claimed[Sample.work]?.nextDueAt = outbox.now + .seconds(10)
    outbox.machine.exchanged(exchange, request, at: outbox.now)
    #expect(outbox.run().count == 1)
  }
}
