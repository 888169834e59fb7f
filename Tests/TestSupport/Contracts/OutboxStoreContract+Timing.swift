import HearthCore

/// The promises of `OutboxStore` about time.
extension OutboxStoreContract {
  static let timing: [OutboxFact] = [
    OutboxFact("a clock step changes no wait for a retry, but ends one that is longer than a day") { bench in
      let ids = try await bench.add(Sample.draft("/1", lane: nil), Sample.draft("/2", lane: nil)).map(\.item.id)
      try await bench.store.finish { wait(.seconds($0.item.id == ids[0] ? 60 : 2 * 86_400)) }
      bench.clock.step(by: .seconds(3600))
      let now = bench.clock.now()
      try expect(try await bench.store.settle().claimed.nextDueAt, is: now + .seconds(60))
      try expect(try await bench.store.item(ids[0])?.nextAttemptAt, is: now + .seconds(60))
      bench.clock.jump(to: now + .seconds(59))
      try expect(try await bench.store.settle().claims, is: [])
      bench.clock.jump(to: now + .seconds(60))
      try expect(try await bench.store.settle().claims.deliveries.map(\.item.id), is: [ids[0]])
      bench.clock.jump(to: now + .seconds(86_400))
      try expect(try await bench.store.settle().claims.deliveries.map(\.item.id), is: [ids[1]])
    },
    OutboxFact("a wait keeps its length, though the clock was ahead and was set back while nothing ran") {
      bench in
      bench.clock.jump(to: start + .seconds(365 * 86_400))
      try await bench.add(Sample.draft("/1"), Sample.draft("/2", lane: "b", notBefore: start + .seconds(400 * 86_400)))
      try await bench.store.finish { _ in wait(.seconds(600)) }
      bench.clock.jump(to: start)
      let store = try bench.reopen()
      try await store.recover()
      try expect(try await store.settle().claimed.nextDueAt, is: start + .seconds(600))
      bench.clock.jump(to: start + .seconds(600))
      try expect(try await store.settle().claims.paths, is: ["/1"])
    },
    OutboxFact("a clock step does not change how long a fate has been unknown, even that of an item in flight") {
      bench in
      try await bench.add(Sample.draft("/waits", lane: nil), Sample.draft("/sent", lane: "a"))
      let claims = try await bench.store.settle().claims
      for claim in claims { try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true) }
      let waits = claims.filter { $0.deliveries[0].item.lane == nil }
      _ = try await bench.store.settle(
        waits.settled { _ in wait(.seconds(1), isUnanswered: true) })
      bench.clock.step(by: .seconds(2 * 86_400))
      _ = try await bench.store.settle()
      let store = try bench.reopen()
      try await store.recover()
      bench.clock.advance(by: .seconds(1))
      let again = try await store.settle().claims.deliveries
      try expect(again.map(\.progress.unknownSince), is: Array(repeating: start + .seconds(2 * 86_400), count: 2))
    },
    OutboxFact("an item that was due when claimed is due when it is returned, though the clock was set back") {
      bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2", lane: nil))
      try await bench.store.finish { _ in wait(.seconds(60)) }
      bench.clock.advance(by: .seconds(60))
      let claims = try await bench.store.settle().claims
      try expect(Set(claims.paths), is: ["/1", "/2"])
      bench.clock.step(by: .seconds(-3600))
      try expect(Set(try await bench.store.settle(releasing: claims.map(\.epoch)).claims.paths), is: ["/1", "/2"])
    },
    OutboxFact("an item's wait counts from its outcome, by the store's time, which the store reports") { bench in
      try await bench.add(Sample.draft("/1"))
      let claims = try await bench.store.settle().claims
      bench.clock.advance(by: .seconds(100))
      let settled = claims.settled { _ in wait(.seconds(60)) }.map { settlement in
        var settlement = settlement
        settlement.age = .seconds(40)
        return settlement
      }
      let exchange = try await bench.store.exchange(settled, releasing: [], claiming: [])
      try expect(exchange.time, is: start + .seconds(100))
      try expect(try await bench.store.settle().claimed.nextDueAt, is: start + .seconds(120))
    },
    OutboxFact("whether an item has expired does not depend on the store's time") { bench in
      try await bench.add(Sample.draft("/1", expiresAt: start + .seconds(9)))
      bench.clock.advance(by: .seconds(3600))
      let late = try await bench.store.settle(by: .unconfirmed(start + .seconds(9)))
      try expect(late.claimed.timeNeededFrom, is: Sample.origin)
      try expect(try await bench.store.settle(by: .agreed(start + .seconds(8))).claims.paths, is: ["/1"])
    },
  ]
}
