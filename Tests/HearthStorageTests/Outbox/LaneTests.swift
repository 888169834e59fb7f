import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct LaneTests {
  @Test("A lane is first in, first out, and lanes and unordered items are sent side by side")
  func order() async throws {
    try await withStore { outbox in
      try await outbox.add(
        Sample.draft("/a1", lane: "a"), Sample.draft("/a2", lane: "a"), Sample.draft("/b1", lane: "b"),
        Sample.draft("/u1", lane: nil), Sample.draft("/u2", lane: nil))
      let first = try await outbox.claim().deliveries
      #expect(Set(first.map(\.path)) == ["/a1", "/b1", "/u1", "/u2"])
      #expect(try await outbox.claim().deliveries.isEmpty)
      let a1 = try #require(first.first { $0.path == "/a1" })
      let next = try await outbox.claim([outbox.settlement(a1, .delivered(status: 200))])
      #expect(next.deliveries.map(\.path) == ["/a2"])
      #expect(next.changed.map(\.state) == [.delivered])
    }
  }

  @Test("Items behind the head are claimed with it, up to the first that must wait")
  func runs() async throws {
    try await withStore { outbox in
      try await outbox.add(
        Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3", notBefore: outbox.now + .seconds(9)),
        Sample.draft("/4"), Sample.draft("/b1", lane: "b"))
      let (deliveries, claimed, _, _) = try await outbox.claim(follows: true)
      #expect(claimed.claims.map { $0.deliveries.map(\.path) } == [["/1", "/2"], ["/b1"]])
      let finished = deliveries.filter { $0.path != "/b1" }.map {
        outbox.settlement($0, .delivered(status: 200))
      }
      #expect(try await outbox.claim(finished, follows: true).deliveries.isEmpty)
    }
  }

  @Test("An item of an origin that is no longer configured is held once it is due, and delays no other lane")
  func originGone() async throws {
    try await withStore { outbox in
      try await outbox.add(
        Sample.draft("/retried"), Sample.draft("/behind"),
        Sample.draft("/later", lane: nil, notBefore: outbox.now + .seconds(9)))
      let head = try #require(try await outbox.claim(limit: 1).deliveries.first)
      _ = try await outbox.finish(head, outbox.wait(5))
      let early = try await outbox.claim(open: [Sample.secondOrigin])
      #expect(early.changed.isEmpty && early.claimed.nextDueAt == outbox.now + .seconds(5))
      outbox.now = outbox.now + .seconds(9)
      try await outbox.add(Sample.draft("/other", lane: "b", origin: "https://second.example.com"))
      let found = try await outbox.claim(open: [Sample.secondOrigin])
      #expect(found.changed.map(\.url).sorted() == ["later", "retried"].map { "https://api.example.com/\($0)" })
      #expect(found.changed.allSatisfy { $0.reason == .originNotConfigured })
      #expect(found.deliveries.map(\.path) == ["/other"])
      #expect(try await outbox.claim(open: [Sample.secondOrigin]).claimed.nextDueAt == nil)
    }
  }

  @Test("A waiting head blocks its lane, and items claimed behind it return to their places")
  func waitingHead() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/b", lane: "b"))
      let taken = try await outbox.claim(follows: true).deliveries
      let outcomes = [
        "/1": DeliveryOutcome.delivered(status: 200), "/2": outbox.wait(60), "/3": .released, "/b": .released,
      ]
      let finished = try taken.map { outbox.settlement($0, try #require(outcomes[$0.path])) }
      let next = try await outbox.claim(finished, follows: true)
      #expect(next.deliveries.map(\.path) == ["/b"])
      #expect(next.claimed.nextDueAt == outbox.now + .seconds(60))
      outbox.now = outbox.now + .seconds(60)
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == ["/2", "/3"])
    }
  }

  @Test("A dead item leaves its lane to the next")
  func deadLeaves() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      let first = try #require(try await outbox.claim().deliveries.first)
      let dead = try await outbox.finish(first, .dead(.rejected, status: 404, error: "404: none"))
      #expect(dead.map(\.reason) == [.rejected])
      #expect(dead.map(\.lastStatus) == [404])
      #expect(dead.map(\.lastError) == ["404: none"])
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/2"])
      #expect(try await outbox.claim().deliveries.isEmpty)
    }
  }

  @Test("Without a connection no attempt counts, and the item is available as soon as its origin is")
  func unreachable() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2", lane: nil))
      let first = try await outbox.claim(limit: 1, unordered: 0).deliveries[0]
      let probeAt = outbox.now + .seconds(5)
      let item = try await outbox.finish(first, .unreachable(probeIn: .seconds(5), status: nil, error: "refused"))[0]
      #expect(item.state == .waiting)
      #expect(item.attempts == 0)
      #expect(item.nextAttemptAt == probeAt)
      #expect(try await outbox.claim(open: [], configured: [Sample.origin]).deliveries.isEmpty)
      #expect(try await outbox.claim(open: [], probed: [Sample.origin]).deliveries.count == 1)
      #expect(try await outbox.claim().deliveries.count == 1)
    }
  }

  @Test("An item that a gateway answered waits, even if others reach its origin")
  func answeredByGateway() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "b"))
      let first = try await outbox.claim(limit: 1).deliveries[0]
      let probeAt = outbox.now + .seconds(5)
      _ = try await outbox.finish(first, .unreachable(probeIn: .seconds(5), status: 407, error: ""))
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/2"])
      outbox.now = probeAt
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/1"])
    }
  }

  @Test("Items that are due at the same time are claimed together")
  func dueTogether() async throws {
    try await withStore { outbox in
      for index in 0..<8 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      let finished = try await outbox.claim().deliveries.map {
        outbox.settlement($0, .unreachable(probeIn: .zero, status: nil, error: "refused"))
      }
      #expect(try await outbox.claim(finished, limit: 8).deliveries.count == 8)
    }
  }

  @Test("Items that wait for their origin are not delayed by a clock that is set back between two starts")
  func setBackBetweenStarts() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      let first = try await outbox.claim().deliveries[0]
      _ = try await outbox.finish(first, .unreachable(probeIn: .seconds(5), status: nil, error: "refused"))
      outbox.now = outbox.now - .seconds(3600)
      try await outbox.store.recover()
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/1"])
    }
  }

  @Test("The probe of an origin is another item each time, of any lane or none")
  func probesRotate() async throws {
    try await withStore { outbox in
      try await outbox.add(
        Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "a"), Sample.draft("/3", lane: "b"),
        Sample.draft("/4", lane: nil))
      var paths: [String] = []
      for _ in 0..<6 {
        outbox.now = outbox.now + .seconds(5)
        let probes = try await outbox.claim(open: [], probed: [Sample.origin]).deliveries
        paths += probes.map(\.path)
        for probe in probes {
          _ = try await outbox.finish(probe, .unreachable(probeIn: .zero, status: 407, error: ""))
        }
      }
      #expect(paths == ["/1", "/3", "/4", "/1", "/3", "/4"])
      #expect(Set(try await outbox.claim().deliveries.map(\.path)) == ["/1", "/3", "/4"])
    }
  }

  @Test("Later items of a lane are not claimed with its head if an item between them is held in its place")
  func heldBetween() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      try await outbox.add(Sample.draft("/2"), subject: nil)
      try await outbox.add(Sample.draft("/3"))
      let held = try #require(try await outbox.claim(subject: nil).deliveries.first)
      try await outbox.finish(held, .needsStepUp(status: 401, error: "no"))
      _ = try await outbox.store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      let first = try await outbox.claim(follows: true).deliveries
      #expect(first.map(\.path) == ["/1"])
      try await outbox.finish(first[0], .delivered(status: 200))
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == [])
      #expect(try await outbox.store.free(Sample.work, configured: [], signedIn: true, limit: 9) == 1)
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == ["/2", "/3"])
    }
  }

  @Test("Items that are due again and new ones take turns")
  func noStarvation() async throws {
    try await withStore { outbox in
      for index in 0..<4 { try await outbox.add(Sample.draft("/old\(index)", lane: nil)) }
      for delivery in try await outbox.claim().deliveries { _ = try await outbox.finish(delivery, outbox.wait(1)) }
      for index in 0..<20 { try await outbox.add(Sample.draft("/new\(index)", lane: nil)) }
      outbox.now = outbox.now + .seconds(2)
      let paths = try await outbox.claim(limit: 6).deliveries.map(\.path)
      #expect(paths.count { $0.hasPrefix("/old") } == 3)
      #expect(paths.count { $0.hasPrefix("/new") } == 3)
    }
  }

  @Test("Items in flight at a crash are pending again, with the same key, and a lane keeps its order")
  func recovery() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil))
      let taken = try await outbox.claim(limit: 3, follows: true).deliveries
      #expect(taken.filter { $0.path != "/3" }.allSatisfy(outbox.begin))
      let keys = Dictionary(uniqueKeysWithValues: taken.map { ($0.path, $0.request.idempotencyKey) })
      outbox.now = outbox.now + .seconds(60)
      try await outbox.store.recover()
      #expect(try await outbox.store.stats(of: nil).inFlight == 0)
      try outbox.expectSound()
      let again = try await outbox.claim(follows: true).deliveries
      #expect(Set(again.map(\.path)) == ["/1", "/2", "/3", "/u"])
      #expect(again.map(\.path).filter { $0 != "/u" } == ["/1", "/2", "/3"])
      for delivery in again where keys[delivery.path] != nil {
        #expect(delivery.request.idempotencyKey == keys[delivery.path])
        #expect(delivery.item.attempts == 0)
      }
    }
  }

  @Test("After the horizon an item with an unknown result is held for review until it is retried; a PUT is not")
  func horizon() async throws {
    try await withStore { outbox in
      let items = try await outbox.add(
        Sample.draft("/post", lane: "a"), Sample.draft("/put", method: "PUT", lane: "b"), Sample.draft("/a2", lane: "a")
      )
      for delivery in try await outbox.claim().deliveries {
        _ = try await outbox.finish(delivery, outbox.wait(1, unknown: true, status: nil))
      }
      outbox.now = outbox.now + .seconds(24 * 3600 + 1)
      let next = try await outbox.claim()
      #expect(next.changed.map(\.reason) == [.needsReview])
      #expect(next.changed.map(\.state) == [.held])
      let taken = next.deliveries.map(\.path) + (try await outbox.claim().deliveries.map(\.path))
      #expect(Set(taken) == ["/put", "/a2"])
      #expect(try await outbox.store.stats(of: nil).held == 1)
      _ = try await outbox.store.change(items[0].item.id, .retry)
      #expect(try await outbox.state(items[0].item.id) == .pending)
    }
  }

  @Test("Unordered items, however many, do not delay a lane, nor lanes unordered items")
  func kindsApart() async throws {
    try await withStore { outbox in
      for _ in 0..<50 { try await outbox.add(Sample.draft("/u", lane: nil)) }
      try await outbox.add(Sample.draft("/lane"))
      for index in 0..<50 { try await outbox.add(Sample.draft("/l", lane: "\(index)")) }
      try await outbox.add(Sample.draft("/last", lane: nil))
      let mixed = try await outbox.claim(limit: 2)
      #expect(mixed.deliveries.map(\.path) == ["/lane", "/l", "/u", "/u"])
      #expect(mixed.deliveries.map { $0.item.lane == nil } == [false, false, true, true])
      #expect(mixed.claimed.cut == [Sample.origin: .all])
      let unordered = try await outbox.claim(limit: 100, lanes: 0)
      #expect(unordered.deliveries.count == 49)
      #expect(unordered.deliveries.last?.path == "/last")
      #expect(unordered.claimed.cut.isEmpty)
    }
  }

  @Test("After a crash the result is unknown since the item was claimed")
  func crashBeyondHorizon() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/post"))
      let sent = outbox.now
      #expect(try await outbox.claim().deliveries.allSatisfy(outbox.begin))
      outbox.now = outbox.now + .seconds(24 * 3600 + 1)
      try await outbox.store.recover()
      let held = try #require(try await outbox.claim().changed.first)
      #expect(held.reason == .needsReview)
      #expect(
        held.lastError
          == "Since \(sent), Hearth has not known whether the request took effect (The daemon stopped while the "
          + "request was in flight.). Retry or cancel the item.")
    }
  }

  @Test("An expired item is dead once the time is confirmed, and until then neither sent nor lost")
  func expiry() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(
        Sample.draft("/1", expiresAt: outbox.now + .seconds(5)), Sample.draft("/2"))[0].item.id
      outbox.now = outbox.now + .seconds(5)
      let doubtful = try await outbox.claim(trusted: false)
      #expect(doubtful.deliveries.isEmpty)
      #expect(doubtful.claimed.timeNeededFrom == Sample.origin)
      #expect(doubtful.nextExpiryAt == outbox.now)
      #expect(doubtful.claimed.cut.isEmpty)
      #expect(try await outbox.store.expire(limit: 10, by: outbox.now) == nil)
      #expect(try await outbox.store.item(id)?.reason == .expired)
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/2"])
    }
  }

  @Test("Retries keep their distance when the clock is stepped, up to the longest wait that a server may ask for")
  func clockStep() async throws {
    try await withStore { outbox in
      let notBefore = outbox.now + .seconds(7 * 24 * 3600)
      try await outbox.add(Sample.draft("/1"), Sample.draft("/later", lane: "b", notBefore: notBefore))
      let delivery = try await outbox.claim().deliveries[0]
      _ = try await outbox.finish(delivery, outbox.wait(60))
      let back = Duration.seconds(-3600)
      outbox.clock.step(by: back)
      #expect(try await outbox.claim().claimed.nextDueAt == outbox.now + .seconds(60))
      outbox.now = outbox.now - .seconds(30 * 24 * 3600)
      try await outbox.store.recover()
      #expect(try await outbox.claim().claimed.nextDueAt == outbox.now + .seconds(60))
      let items = try await outbox.store.list(OutboxQuery(lane: "b")).items
      #expect(items.map(\.nextAttemptAt) == [notBefore])
    }
  }

  @Test("A head whose content is gone is dead and does not block its lane")
  func lostContent() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))[0].item.id
      try await outbox.store.withConnection { try $0.execute(sql: "DELETE FROM contents WHERE item = 1") }
      let next = try await outbox.claim()
      #expect(next.changed.map(\.id) == [id])
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/2"])
      try await outbox.store.withConnection { try $0.execute(sql: "INSERT INTO contents VALUES (1, '', NULL, NULL)") }
      _ = try await outbox.store.change(id, .cancel)
    }
  }
}
