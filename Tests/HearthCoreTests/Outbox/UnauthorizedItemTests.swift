import TestSupport
import Testing

@testable import HearthCore

@Suite("The outbox's machine and requests that are refused or given up")
struct UnauthorizedItemTests {
  @Test("writes nothing about a request that was given up on this side: it stays in flight on disk")
  func givenUp() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.responded(.failure(.unanswered(message: "cancelled")), for: id, isCancelled: true, at: outbox.now)
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.settled.isEmpty)
  }

  @Test(
    "lets only the item wait, longer each time, that gets another 511 although others get through",
    arguments: [(1, 1), (2, 2), (5, 16), (40, 6 * 3600 / 2)])
  func portalForOne(_ before: Int, _ seconds: Int64) throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a", offlineAnswers: before), outbox.claim("b")])
    let ids = outbox.start()
    outbox.answer(ids[0], 511)
    outbox.run()
    #expect(outbox.settled.map(\.outcome.probeIn) == [.seconds(seconds)])
    #expect(outbox.machine.probeTime(of: Sample.work, Sample.origin, at: outbox.now) == nil)
    #expect(outbox.machine.pausedReason(of: Sample.work) == nil)
  }

  @Test("takes the first 511, and each one during an outage, as the answer of a portal before the origin")
  func portal() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a"), outbox.claim("b", offlineAnswers: 1), outbox.claim("c")])
    let ids = outbox.start()
    outbox.answer(ids[0], 511)
    let until = try #require(outbox.machine.probeTime(of: Sample.work, Sample.origin, at: outbox.now))
    outbox.answer(ids[1], 511)
    outbox.run()
    #expect(outbox.settled.map(\.outcome.probeIn) == [until - outbox.now, until - outbox.now])
  }

  @Test("reports to the store whether a request has left; without a connection none has", arguments: [true, false])
  func hasLeft(_ isConnected: Bool) throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a"), outbox.claim("b")])
    let ids = outbox.start()
    let failure = ExchangeFailure.notSent(message: "no")
    if isConnected {
      outbox.answer(ids[0], 511)
    } else {
      outbox.machine.responded(.failure(failure), for: ids[0], isCancelled: false, at: outbox.now)
    }
    // A second request of one delivery that does not leave, although the first has.
    outbox.answer(ids[1], 401)
    outbox.step(ids[1], bearer: 2)
    outbox.machine.responded(.failure(failure), for: ids[1], isCancelled: false, at: outbox.now)
    outbox.run()
    #expect(outbox.settled.map(\.hasLeft) == [isConnected, true])
  }

  @Test(
    "has the token replaced that two items got a 401 for before an item is dead whose first 401 was for another token")
  func becomesTheReplacementLater() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a"), outbox.claim("b")])
    let ids = outbox.start()
    for id in ids { outbox.answer(id, 401) }
    #expect(outbox.step(ids[0]) == replaces(1, of: 1000, isAcceptedElsewhere: false))
    // The session has the next token already.
    #expect(outbox.step(ids[1], bearer: 2).sent != nil)
    outbox.answer(ids[1], 401)
    outbox.machine.received(.success(outbox.bearer(2)), for: ids[0], at: outbox.now)
    #expect(outbox.step(ids[0]).sent != nil)
    outbox.answer(ids[0], 200)
    #expect(outbox.step(ids[1], bearer: 2) == replaces(2, of: 2000, isAcceptedElsewhere: true))
  }

  @Test("waits with its decision on a 401 while another item is claimed that may be accepted")
  func notAlone() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a")])
    let id = try outbox.first()
    outbox.run(claiming: [outbox.claim("b")])
    outbox.answer(id, 401)
    #expect(outbox.step(id) == replaces(1, of: 1000, isAcceptedElsewhere: false))
    outbox.machine.received(.success(outbox.bearer(2)), for: id, at: outbox.now)
    #expect(outbox.step(id).sent != nil)
    outbox.answer(id, 401)
    #expect(outbox.step(id, bearer: 2) == .wait)
  }

  /// The sender's item gets a 401 for a token that others were accepted with, and no other token is available.
  private func refuse(_ id: SenderID, of delivery: Int, _ outbox: inout OutboxScript) {
    outbox.answer(id, 401)
    #expect(outbox.step(id) == replaces(1, of: delivery, isAcceptedElsewhere: true))
    let failure = Failure.unavailable(message: "503", retryAfter: nil)
    outbox.machine.received(.failure(failure), for: id, at: outbox.now)
    #expect(outbox.step(id) == .end)
  }

  @Test("lets only the refused item wait, longer each time, if its token cannot be replaced")
  func waitsAlone() throws {
    var outbox = OutboxScript()
    let (accepted, refused) = (outbox.claim("accepted"), outbox.claim("a"))
    outbox.run(claiming: [accepted, refused])
    let ids = outbox.start()
    outbox.answer(ids[0], 200)
    outbox.step(ids[0])
    var id = ids[1]
    for (epoch, wait) in zip(100..., [1, 2, 4, 8]) {
      refuse(id, of: 2000, &outbox)
      let demands = outbox.run(claiming: [outbox.claim("b")])
      #expect(demands.last?.refused == [refused.deliveries[0].number])
      let other = try outbox.first()
      outbox.answer(other, 200)
      outbox.step(other)
      #expect(outbox.machine.pausedReason(of: Sample.work) == nil)
      outbox.run()
      #expect(outbox.machine.nextWake(after: outbox.now) <= outbox.now + .seconds(wait))
      outbox.now = outbox.now + .seconds(wait) - .milliseconds(1)
      outbox.machine.ready([Sample.work: .all])
      #expect(outbox.run().last?.refused == [refused.deliveries[0].number])
      outbox.now = outbox.now + .milliseconds(1)
      #expect(outbox.run().last?.refused == [])
      outbox.run(claiming: [LaneClaim(epoch: Int64(epoch), deliveries: refused.deliveries)])
      id = try outbox.first()
    }
  }

  @Test("lets all items wait once a second place refuses a token that cannot be replaced")
  func waitTogether() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("accepted"), outbox.claim("a"), outbox.claim("b")])
    let ids = outbox.start()
    outbox.answer(ids[0], 200)
    outbox.step(ids[0])
    for (id, delivery) in zip(ids[1...], [2000, 3000]) { refuse(id, of: delivery, &outbox) }
    #expect(outbox.machine.pausedReason(of: Sample.work) == OutboxAccount.refreshUnavailable)
    outbox.machine.ready([Sample.work: .all])
    #expect(outbox.run().isEmpty)
  }

  @Test("continues when its place is free again, once another item was accepted")
  func placeTaken() throws {
    var settings = OutboxSettings()
    settings.concurrency = 1
    var outbox = OutboxScript(settings)
    outbox.run(claiming: [outbox.claim("a"), outbox.claim(nil)])
    let ids = outbox.start()
    for id in ids { outbox.answer(id, 401) }
    #expect(outbox.step(ids[0]) == replaces(1, of: 1000, isAcceptedElsewhere: false))
    // The session has the next token already.
    #expect(outbox.step(ids[1], bearer: 2).sent != nil)
    outbox.answer(ids[1], 401)
    outbox.machine.received(.success(outbox.bearer(2)), for: ids[0], at: outbox.now)
    #expect(outbox.step(ids[0]).sent != nil)
    #expect(outbox.step(ids[1], bearer: 2) == .wait)

    outbox.run(claiming: [outbox.claim(nil)])
    let next = try outbox.first()
    outbox.answer(ids[0], 200)
    #expect(outbox.step(ids[0]) == .end)
    #expect(outbox.machine.takeResumed().isEmpty)
    outbox.answer(next, 200)
    #expect(outbox.step(next) == .end)
    #expect(outbox.machine.takeResumed() == [ids[1]])
    #expect(outbox.step(ids[1]) == replaces(2, of: 2000, isAcceptedElsewhere: true))
  }

  @Test("makes an item dead at once if the session keeps its token: the 401 is the answer to that item")
  func kept() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a")])
    let id = try outbox.first()
    outbox.answer(id, 401)
    #expect(outbox.step(id) == replaces(1, of: 1000, isAcceptedElsewhere: false))
    outbox.machine.received(.success(outbox.bearer(1)), for: id, at: outbox.now)
    #expect(outbox.step(id) == .end)
    outbox.run()
    #expect(outbox.settled.map(\.outcome) == [DeliveryPolicy(OutboxSettings()).rejected(APIResponse(status: 401))])
  }

  @Test("reports each 2xx, and nothing else, as an acceptance of the token")
  func accepted() throws {
    var outbox = OutboxScript()
    for (status, isAccepted) in [(200, true), (204, true), (400, false), (401, false), (503, false)] {
      outbox.run(claiming: [outbox.claim(nil)])
      let id = try outbox.first()
      let response = Result<APIResponse, ExchangeFailure>.success(APIResponse(status: status))
      #expect(outbox.machine.responded(response, for: id, isCancelled: false, at: outbox.now) == isAccepted)
    }
  }

  private func replaces(_ number: Int, of delivery: Int, isAcceptedElsewhere: Bool) -> SenderStep {
    .replaceBearer(
      APIRejection(
        ScriptedBearerTokenProvider.token(number).fingerprint, at: try? HTTPURL("\(Sample.origin)/\(delivery)"),
        isAcceptedElsewhere: isAcceptedElsewhere), Sample.work)
  }
}

extension DeliveryOutcome {
  fileprivate var probeIn: Duration? { if case .unreachable(let wait, _, _) = self { wait } else { nil } }
}
