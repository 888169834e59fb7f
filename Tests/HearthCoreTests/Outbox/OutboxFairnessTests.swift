import TestSupport
import Testing

@testable import HearthCore

/// Lanes and accounts do not delay each other.
@Suite("The outbox's machine, while an API hangs,") struct OutboxFairnessTests {
  @Test("lets 8 hung unordered items of one origin delay no item for another origin")
  func hungUnordered() {
    var outbox = OutboxScript()
    outbox.run(claiming: (0..<8).map { _ in outbox.claim(nil) })
    #expect(outbox.start().count == 8)
    outbox.run(claiming: [outbox.claim(nil, origin: Sample.secondOrigin)])
    #expect(outbox.start().count == 1)
    outbox.run(claiming: [outbox.claim(nil)])
    #expect(outbox.start().isEmpty, "concurrency is a limit for each origin")
  }

  @Test("lets 40 hung lanes of one origin delay no unanswered retry for another origin")
  func hungRetries() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: (0..<40).map { outbox.claim("hung \($0)", unknownSince: outbox.now) })
    outbox.start()
    outbox.machine.ready([Sample.work: .lanes])
    let rooms = try #require(outbox.run().first?.rooms)
    #expect(rooms[Sample.origin]?.unanswered == 0)
    #expect(rooms[Sample.secondOrigin]?.unanswered == 16)
    outbox.now = outbox.now + .seconds(1)
    outbox.machine.ready([Sample.work: .lanes])
    let later = try #require(outbox.run().first?.rooms)
    #expect(
      later[Sample.origin]?.unanswered == 16, "those that take long make room for other lanes of their origin, too")
  }

  @Test("counts the memory of deliveries that senders have claimed but not begun, and none for a sender without one")
  func bytesOfSenders() throws {
    var outbox = OutboxScript()
    outbox.run(claiming: [outbox.claim("a", bytes: 10)])
    let id = try outbox.firstUnstepped()
    for _ in 1...2 {
      outbox.machine.ready([Sample.work: .all])
      #expect(outbox.run().first?.rooms[Sample.origin]?.bytes == ((32 << 20) - 10) / 2, "half for each origin")
      outbox.step(id)
    }
  }

  @Test("lets 36 hung lanes of 1 MB delay neither another account nor another origin, and its own only for a second")
  func hungBytes() throws {
    var outbox = OutboxScript(accounts: [Sample.work, Sample.other])
    outbox.run(claiming: (0..<36).map { outbox.claim("hung \($0)", bytes: 1 << 20) })
    #expect(outbox.start().count == 36)
    outbox.machine.ready([Sample.work: .lanes, Sample.other: .lanes])
    var demands = outbox.run()
    #expect(demands.map(\.account) == [Sample.other, Sample.work])
    #expect(demands[1].rooms[Sample.origin]?.lanes == 0 && demands[1].rooms[Sample.secondOrigin]?.lanes == 64)
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .seconds(1))
    outbox.now = outbox.now + .seconds(1)
    demands = outbox.run()
    #expect(demands.map { $0.rooms[Sample.origin]?.lanes } == [64])
    #expect((demands[0].rooms[Sample.origin]?.bytes ?? 0) >= 16 << 20)
    // Many large answers of other lanes at once are sent as if nothing hung.
    outbox.run(claiming: (0..<20).map { outbox.claim("well \($0)", account: Sample.other, bytes: 1 << 20) })
    #expect(outbox.start().count == 20)
  }

  @Test("lets hung lanes of 66 MB delay only large items of their origin, until it holds less")
  func hungMemory() throws {
    var outbox = OutboxScript()
    var ids: [SenderID] = []
    for part in 0..<2 {
      outbox.run(claiming: (0..<33).map { outbox.claim("hung \(part) \($0)", bytes: 1 << 20) })
      ids += outbox.start()
      outbox.now = outbox.now + .seconds(1)
    }
    #expect(ids.count == 66)
    outbox.machine.ready([Sample.work: .lanes])
    let full = try #require(outbox.run().first?.rooms)
    #expect(full[Sample.origin]?.lanes == 64 && full[Sample.origin]?.largest == 64 << 10)
    #expect(full[Sample.secondOrigin]?.largest == .max)
    for id in ids.prefix(3) {
      outbox.answer(id, 200)
      outbox.step(id)
    }
    #expect(outbox.run().last?.rooms[Sample.origin]?.largest == .max)
  }

  @Test("sends the deliveries read ahead for one origin even if the places of another are taken")
  func readAhead() {
    var outbox = OutboxScript()
    outbox.run(claiming: (0..<64).map { outbox.claim("hung \($0)") })
    #expect(outbox.start().count == 64)
    let queue = [outbox.claim("behind"), outbox.claim("well", origin: Sample.secondOrigin)]
    outbox.machine.accounts[Sample.work]?.queue = queue
    #expect(outbox.start().count == 1)
    #expect(outbox.machine.accounts[Sample.work]?.queue.map(\.origin) == [Sample.origin])
  }

  @Test("asks the store again for an origin without room as soon as it has some")
  func roomAgain() throws {
    var outbox = OutboxScript()
    let claims = (0..<9).map { _ in outbox.claim(nil) }
    outbox.run(claiming: claims)
    let ids = outbox.start()
    #expect(ids.count == 8)
    outbox.answer(ids[0], 200)
    #expect(outbox.step(ids[0]) == .end)
    outbox.run(claiming: [claims[8]])
    #expect(outbox.start().count == 1)
  }
}

/// One endpoint answers with pages while others answer JSON.
@Suite("The outbox's machine, while a gateway answers with a page,") struct OutboxPageTests {
  private static let page = APIResponse(
    status: 200, headers: [APIRequest.Header(name: "Content-Type", value: "text/html")])

  @Test("counts the attempt, treats the result as unknown, waits longer each time, and delays no other item")
  func page() throws {
    var outbox = OutboxScript()
    outbox.machine.accounts[Sample.work]?.api.expect = .json
    outbox.run(claiming: [outbox.claim("page"), outbox.claim("well")])
    let ids = outbox.start()
    outbox.machine.responded(.success(Self.page), for: ids[0], isCancelled: false, at: outbox.now)
    #expect(outbox.step(ids[0]) == .end)
    outbox.answer(ids[1], 200)
    outbox.step(ids[1])
    outbox.run()
    guard case .waiting(let wait)? = outbox.settled.first?.outcome else {
      throw Violation("\(outbox.settled)")
    }
    #expect(wait.status == 200 && wait.unknownFor == .zero && wait.error.contains("page"))
    #expect(outbox.machine.accounts[Sample.work]?.breaker.unreachable == [])
    #expect(outbox.machine.pausedReason(of: Sample.work) == nil)
  }

  @Test("does not take the page as a sign that the token is accepted")
  func token() throws {
    var outbox = OutboxScript()
    outbox.machine.accounts[Sample.work]?.api.expect = .json
    outbox.run(claiming: [outbox.claim()])
    let id = try outbox.first()
    outbox.machine.responded(.success(Self.page), for: id, isCancelled: false, at: outbox.now)
    #expect(outbox.machine.accounts[Sample.work]?.acceptance.isAccepted(outbox.token(1).fingerprint) == false)
  }
}
