import HearthCore

/// The promises of `OutboxStore` for claims and settlements.
extension OutboxStoreContract {
  static let delivering: [OutboxFact] = [
    OutboxFact("a claim takes what is due for its subject, the head of each lane, and takes it once") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/u", lane: nil))
      try await bench.add(Sample.draft("/b"), subject: Sample.bob)
      try expect(Set(try await bench.store.settle().claims.paths), is: ["/1", "/u"])
      try expect(try await bench.store.settle().claims, is: [])
      try expect(try await bench.store.settle(subject: Sample.bob).claims.paths, is: ["/b"])
    },
    OutboxFact("the outcome of a delivery is stored and the next one claimed in one step") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
      let first = try await bench.store.settle().claims
      _ = bench.log.take()
      let next = try await bench.store.settle(first.settled { _ in .delivered(status: 200) }).claims
      try expect(bench.log.take().changed.map(\.state), is: [.delivered])
      try expect(next.paths, is: ["/2"])
      let later = start + .seconds(60)
      let waiting = try await bench.store.settle(next.settled { _ in wait(.seconds(60)) })
      try expect(bench.log.take().changed.map(\.state), is: [.waiting])
      try expect(waiting.claims, is: [])
      try expect(waiting.claimed.nextDueAt, is: later)
      bench.clock.jump(to: later)
      try expect(try await bench.store.settle().claims.deliveries.map(\.item.attempts), is: [1])
    },
    OutboxFact("an item that is refused for now is not claimed and holds up its lane; others are claimed") { bench in
      let paths = ["/1", "/2", "/3"]
      try await bench.add(Sample.draft(paths[0], lane: nil), Sample.draft(paths[1]), Sample.draft(paths[2]))
      try await bench.add(Sample.draft("/other", lane: "b"))
      var demand = OutboxDemand(
        account: Sample.work, subject: Sample.alice, lanes: 1, unordered: 1, takesFollowers: true,
        open: [Sample.origin], configured: [Sample.origin], expiry: .agreed(start),
        policy: DeliveryPolicy(OutboxSettings()))
      func claimed() async throws -> Set<String> {
        let exchange = try await bench.store.exchange([], releasing: [], claiming: [demand])
        let claims = exchange.claimed[Sample.work]?.claims ?? []
        _ = try await bench.store.exchange([], releasing: claims.map(\.epoch), claiming: [])
        return Set(claims.paths)
      }
      try expect(try await claimed(), is: ["/1", "/2"])
      let first = try await bench.store.settle().claims
      _ = try await bench.store.exchange([], releasing: first.map(\.epoch), claiming: [])
      demand.refused = Set(first.deliveries.filter { $0.item.lane != "b" }.map(\.number))
      try expect(try await claimed(), is: ["/other"])
    },
    OutboxFact("an item too large to claim holds up its lane; smaller ones are claimed, however many are larger") {
      bench in
      for number in 0..<9 { try await bench.add(Sample.draft("/large", body: "12345", lane: "\(number)")) }
      try await bench.add(Sample.draft("/1", lane: "small"), Sample.draft("/2", body: "12345", lane: "small"))
      var demand = OutboxDemand(
        account: Sample.work, subject: Sample.alice, lanes: 2, unordered: 1, takesFollowers: true,
        open: [Sample.origin], configured: [Sample.origin], expiry: .agreed(start),
        policy: DeliveryPolicy(OutboxSettings()))
      demand.rooms[Sample.origin]?.largest = 29
      let exchange = try await bench.store.exchange([], releasing: [], claiming: [demand])
      try expect(exchange.claimed[Sample.work]?.claims.paths, is: ["/1"])
      try expect(try await bench.store.settle().claims.count, is: 9)
    },
    OutboxFact("the number of answers from a proxy or portal stays with the item until the API answers") { bench in
      try await bench.add(Sample.draft("/1"))
      for (count, status) in [(0, 511), (1, 503), (0, 511), (1, 407)] {
        let claims = try await bench.store.settle().claims
        try expect(claims.deliveries.map(\.progress.offlineAnswers), is: [count])
        let outcome: DeliveryOutcome =
          status == 503 ? wait(.zero) : .unreachable(probeIn: .zero, status: status, error: "no")
        _ = try await bench.store.exchange(claims.settled { _ in outcome }, releasing: [], claiming: [])
      }
      let store = try bench.reopen()
      try await store.recover()
      try expect(try await store.settle().claims.deliveries.map(\.progress.offlineAnswers), is: [2])
    },
    OutboxFact("a claimed item is pending until it begins, and in flight until it is settled") { bench in
      let ids = try await bench.add(Sample.draft("/1"), Sample.draft("/2")).map(\.item.id)
      let claim = try await bench.store.settle(takesFollowers: true).claims[0]
      func states() async throws -> [OutboxItem.State?] {
        var states: [OutboxItem.State?] = []
        for id in ids { states.append(try await bench.store.item(id)?.state) }
        return states
      }
      try expect(try await states(), is: [.pending, .pending])
      try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      try expect(try await states(), is: [.inFlight, .pending])
      try expect(try await bench.paths(OutboxQuery(state: .inFlight)), is: ["/1"])
      try expect(try await bench.paths(OutboxQuery(state: .pending)), is: ["/2"])
      let stats = try await bench.store.stats(of: Sample.work)
      try expect([stats.pending, stats.inFlight], is: [1, 1])
      _ = bench.log.take()
      await bench.store.publishCounts()
      try expect(bench.log.take().stats(of: Sample.work), is: stats)
      await bench.store.publishCounts()
      try expect(bench.log.take(), is: [])
      _ = try await bench.store.exchange(
        [claim].settled { _ in .delivered(status: 200) }, releasing: [], claiming: [])
      try expect(try await states(), is: [.delivered, .delivered])
    },
    OutboxFact("an ended claim is stale: none of its items begins, and none of its settlements counts") { bench in
      let id = try await bench.add(Sample.draft("/1"))[0].item.id
      let stale = try await bench.store.settle().claims[0]
      try expect(bench.store.begin(stale.deliveries[0].number, of: stale.epoch), is: true)
      let again = try await bench.store.settle(releasing: [stale.epoch]).claims[0]
      try expect([again].paths, is: ["/1"])
      try expect(again.epoch != stale.epoch, is: true)
      try expect(bench.store.begin(stale.deliveries[0].number, of: stale.epoch), is: false)
      _ = bench.log.take()
      _ = try await bench.store.exchange(
        [stale].settled { _ in .delivered(status: 200) }, releasing: [stale.epoch], claiming: [])
      try expect(bench.log.take(), is: [])
      try expect(try await bench.store.item(id)?.state, is: .pending)
      try expect(bench.store.begin(again.deliveries[0].number, of: again.epoch), is: true)
    },
    OutboxFact("a claim ends with the first item that stays in its lane, and the rest stays behind it") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
      let claim = try await bench.store.settle(takesFollowers: true).claims[0]
      try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      let settlement = Settlement(
        epoch: claim.epoch, number: claim.deliveries[0].number, outcome: wait(.seconds(60)))
      try expect(try await bench.store.settle([settlement]).claims, is: [])
      try expect(bench.store.begin(claim.deliveries[1].number, of: claim.epoch), is: false)
      bench.clock.jump(to: start + .seconds(60))
      try expect(try await bench.store.settle(takesFollowers: true).claims.paths, is: ["/1", "/2", "/3"])
    },
    OutboxFact("after a crash, what had begun is pending with an unknown fate since its claim; the rest is not") {
      bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/u", lane: nil))
      let claims = try await bench.store.settle(takesFollowers: true).claims
      for claim in claims where claim.deliveries[0].item.lane != nil {
        try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      }
      let store = try bench.reopen()
      bench.clock.jump(to: start + .seconds(60))
      try await store.recover()
      try expect(Set(try await store.list(OutboxQuery()).items.map(\.state)), is: [.pending])
      let again = try await store.settle(takesFollowers: true).claims
      let unknown = again.deliveries.map { ($0.request.url.target, $0.progress.unknownSince) }
      try expect(Dictionary(uniqueKeysWithValues: unknown), is: ["/1": start, "/2": nil, "/u": nil])
    },
    OutboxFact("only a few of the heads that got no response last are claimed, and others come first") { bench in
      for path in ["/1", "/2", "/3"] { try await bench.add(Sample.draft(path, lane: path)) }
      try await bench.store.finish { delivery in
        .waiting(
          DeliveryOutcome.Wait(duration: .zero, unknownFor: .zero, isConflict: false, status: nil, error: "no"))
      }
      try await bench.add(Sample.draft("/4", lane: "/4"), Sample.draft("/5", lane: "/5"))
      let demand = OutboxDemand(
        account: Sample.work, subject: Sample.alice, lanes: 3, unordered: 3, unanswered: 1, takesFollowers: true,
        open: [Sample.origin], configured: [Sample.origin], expiry: .agreed(start),
        policy: DeliveryPolicy(OutboxSettings()))
      let exchange = try await bench.store.exchange([], releasing: [], claiming: [demand])
      try expect(exchange.claimed[Sample.work]?.claims.paths, is: ["/1", "/4", "/5"])
    },
  ]
}
