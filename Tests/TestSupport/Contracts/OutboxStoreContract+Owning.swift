import HearthCore

/// The promises of `OutboxStore` for the users of the items.
extension OutboxStoreContract {
  static let owning: [OutboxFact] = [
    OutboxFact("items from before the user was known get the user that is named later, in limited steps") { bench in
      let store = bench.store
      try await bench.add(Sample.draft("/mine"))
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), subject: nil)
      func bind(adopts: Bool) async throws -> OutboxBinding {
        try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: adopts, limit: 1)
      }
      try expect(try await bind(adopts: false), is: OutboxBinding(isDone: true, holdsOthers: false))
      try expect(try await store.settle(takesFollowers: true).claims.paths, is: ["/mine"])
      var steps = 1
      while try await !bind(adopts: true).isDone { steps += 1 }
      try expect(steps >= 2, "one item is moved at a time")
      try expect(try await store.list(OutboxQuery()).items.allSatisfy { $0.subject == Sample.alice }, "all are alice's")
    },
    OutboxFact("if a write was made both by its user and before the user was known, the earlier one continues") {
      bench in
      let store = bench.store
      let early = try await bench.add(
        Sample.draft("/1", body: "a", lane: "a", key: "1"), Sample.draft("/next", lane: "a"), subject: nil
      )[0].item
      let kept = try await bench.add(Sample.draft("/2", body: "a", key: "2"))[0].item
      let late = try await bench.add(Sample.draft("/2", body: "a", key: "2"), Sample.draft("/last"), subject: nil)[0]
        .item
      let twin = try await bench.add(
        Sample.draft("/1", body: "a", lane: "a", key: "1"), Sample.draft("/after", lane: "a"))
      let claims = try await store.settle(takesFollowers: true).claims
      _ = bench.log.take()
      _ = try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      for (ended, id) in [(late.id, kept.id), (twin[0].item.id, early.id)] {
        let item = try await store.item(ended)
        try expect(item?.state, is: .superseded)
        try expect(item?.subject, is: Sample.alice)
        try expect(item?.lastError?.contains(id), is: true)
      }
      let ended = bench.log.take().changed.filter { $0.state == .superseded }
      try expect(Set(ended.map(\.id)), is: [late.id, twin[0].item.id])
      for claim in claims {
        for delivery in claim.deliveries where delivery.item.id == twin[0].item.id {
          try expect(store.begin(delivery.number, of: claim.epoch), is: false)
        }
      }
      let again = try await bench.add(
        Sample.draft("/1", body: "a", lane: "a", key: "1"), Sample.draft("/2", body: "a", key: "2"))
      try expect(again.map(\.isDuplicate), is: [true, true])
      try expect(again.map(\.item.id), is: [early.id, kept.id])
      let paths = try await store.settle(releasing: claims.map(\.epoch), takesFollowers: true).claims.paths
      try expect(paths.filter { $0 != "/2" && $0 != "/last" }, is: ["/1", "/next", "/after"])
      try expect(paths.filter { $0 == "/2" || $0 == "/last" }, is: ["/2", "/last"])
    },
    OutboxFact(
      "of one write that was made twice the one that is on its way goes on, and of two contents one needs review"
    ) {
      bench in
      let store = bench.store
      let early = try await bench.add(
        Sample.draft("/1", body: "a", key: "1"), Sample.draft("/2", body: "a", lane: nil, key: "2"), subject: nil
      ).map(\.item.id)
      let late = try await bench.add(
        Sample.draft("/1", body: "a", key: "1"), Sample.draft("/2", body: "b", lane: nil, key: "2")
      ).map(\.item.id)
      let claims = try await store.settle().claims
      for claim in claims where claim.deliveries[0].item.id == late[0] {
        try expect(store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      }
      _ = try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      var states: [OutboxItem.State?] = []
      for id in early + late { states.append(try await store.item(id)?.state) }
      try expect(states, is: [.superseded, .held, .inFlight, .pending])
      try expect([try await store.item(early[1])?.reason], is: [.needsReview])
      // The key belongs to the item that the user had before.
      let again = try await bench.add(
        Sample.draft("/1", body: "a", key: "1"), Sample.draft("/2", body: "b", lane: nil, key: "2"))
      try expect(again.map(\.item.id), is: late)
      let next = try await store.settle(
        claims.filter { $0.deliveries[0].item.id == late[0] }.settled { _ in
          .delivered(status: 200)
        })
      try expect(next.claims, is: [])
      try expect(try await store.change(early[1], .retry).state, is: .pending)
    },
    OutboxFact("another user's items are held until that user is back, and a sign-out may cancel them") { bench in
      let store = bench.store
      func signIn(_ subject: Subject) async throws -> Bool {
        let binding = try await store.bind(Sample.work, to: subject, formerly: nil, adopts: true, limit: 9)
        return binding.holdsOthers
      }
      _ = try await signIn(Sample.alice)
      let ids = try await bench.add(Sample.draft("/1"), Sample.draft("/2")).map(\.item.id)
      try expect(try await signIn(Sample.bob), is: true)
      try expect(try await store.item(ids[0])?.state, is: .held)
      try expect(try await store.changeAll(of: Sample.work, in: .held, .retry, limit: 9), is: 0)
      _ = try await signIn(Sample.alice)
      try expect(try await store.item(ids[0])?.state, is: .pending)
      try expect(try await store.purge(Sample.work, of: Sample.bob, limit: 9), is: 0)
      try expect(try await store.purge(Sample.work, of: Sample.alice, limit: 1), is: 1)
      try expect(try await store.purge(Sample.work, of: Sample.alice, limit: 9), is: 1)
      try expect(try await store.item(ids[1])?.state, is: .cancelled)
    },
    OutboxFact("the items of an account's last user can be discarded even if nobody is known any more") { bench in
      let store = bench.store
      func bind(_ subject: Subject, formerly former: Subject? = nil) async throws {
        _ = try await store.bind(
          Sample.work, to: subject, formerly: former, adopts: subject != .unnamedBefore, limit: 9)
      }
      try expect(try await store.purge(Sample.work, of: .last, limit: 9), is: 0)
      try await bind(Sample.bob)
      let bobs = try await bench.add(Sample.draft("/bob"), subject: Sample.bob)[0].item.id
      // Twice, because the second time there are already items of a user without a name.
      for _ in 0..<2 {
        try await bind(.unnamed)
        try await bench.add(Sample.draft("/unnamed"), subject: .unnamed)
        try await bind(.unnamedBefore, formerly: .unnamed)
        try expect(try await store.purge(Sample.work, of: .last, limit: 9), is: 1)
      }
      try await bind(Sample.alice)
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"))
      try await bench.add(Sample.draft("/other", account: Sample.other))
      let next = try bench.reopen()
      try await next.recover()
      try expect(try await next.purge(Sample.work, of: .last, limit: 1), is: 1)
      try expect(try await next.purge(Sample.work, of: .last, limit: 9), is: 1)
      try expect(try await next.item(bobs)?.state, is: .held)
      try expect(try await next.stats(of: Sample.other).pending, is: 1)
    },
    OutboxFact("users, lanes and keys with names that only look alike are distinguished by their bytes") { bench in
      let store = bench.store
      let (kay, kelvin) = (Subject(issuer: "i", id: "K"), Subject(issuer: "i", id: "\u{212A}"))
      let lanes = ["caf\u{E9}", "cafe\u{301}"]
      for lane in lanes {
        try await bench.add(
          Sample.draft("/1", lane: lane, replaceKey: lane), Sample.draft("/2", lane: lane), subject: kay)
      }
      try await bench.add(
        Sample.draft("/u1", lane: nil, replaceKey: lanes[0]), Sample.draft("/u2", lane: nil, replaceKey: lanes[1]),
        subject: kelvin)
      try expect(try await store.list(OutboxQuery(state: .superseded)).items, is: [])
      for lane in lanes { try expect(try await bench.paths(OutboxQuery(lane: Name(lane))), is: ["/1", "/2"]) }
      _ = try await store.bind(Sample.work, to: kay, formerly: nil, adopts: true, limit: 9)
      try expect(try await store.stats(of: Sample.work).held, is: 2)
      // Each lane continues on its own.
      let first = try await store.settle(subject: kay).claims
      try expect(first.paths, is: ["/1", "/1"])
      for claim in first { try expect(store.begin(claim.deliveries[0].number, of: claim.epoch), is: true) }
      try expect(try await bench.paths(OutboxQuery(state: .inFlight, lane: Name(lanes[0]))), is: ["/1"])
      let second = try await store.settle(Array(first.prefix(1)).settled { _ in .delivered(status: 200) }, subject: kay)
        .claims
      try expect(second.paths, is: ["/2"])
      try expect(
        try await store.settle(Array(first.suffix(1)).settled { _ in .delivered(status: 200) }, subject: kay).claims
          .paths,
        is: ["/2"])
      try expect(Set(try await store.settle(subject: kelvin).claims.paths), is: ["/u1", "/u2"])
      let changed = try await store.bind(Sample.work, to: kelvin, formerly: nil, adopts: true, limit: 9)
      try expect(changed.holdsOthers, is: true)
    },
    OutboxFact(
      "what is held in its place holds its lane, expires, and goes on there when its reason is gone or by retry"
    ) {
      bench in
      let store = bench.store
      let second = "https://second.example.com"
      let ids = try await bench.add(
        Sample.draft("/1", origin: second), Sample.draft("/2"), Sample.draft("/u", lane: nil, origin: second),
        Sample.draft("/x", lane: "x", expiresAt: start + .seconds(9), origin: second), Sample.draft("/y", lane: "x")
      ).map(\.item.id)
      func free(_ origins: Set<Origin>, signedIn: Bool = false, limit: Int = 9) async throws -> Int {
        try await store.free(Sample.work, configured: origins, signedIn: signedIn, limit: limit)
      }
      _ = bench.log.take()
      try expect(try await store.settle().claims, is: [])
      let held = bench.log.take()
      try expect(Set(held.changed.map(\.id)), is: [ids[0], ids[2], ids[3]])
      try expect(Set(held.changed.map(\.reason)), is: [.originNotConfigured])
      let stats = try await store.stats(of: Sample.work)
      try expect([stats.held, stats.pending], is: [3, 2])
      try expect(held.stats(of: Sample.work), is: stats)
      try expect(try await bench.paths(OutboxQuery(state: .held)).count, is: 3)
      try expect(try await store.settle().claims, is: [])
      // Its time continues.
      try expect(try await store.expire(limit: 9, by: nil), is: start + .seconds(9))
      try expect(try await store.expire(limit: 9, by: start + .seconds(9)), is: nil)
      try expect([try await store.item(ids[3])?.reason], is: [.expired])
      let freed = try await store.settle().claims
      try expect(freed.paths, is: ["/y"])
      _ = try await store.exchange(freed.settled { _ in .delivered(status: 200) }, releasing: [], claiming: [])
      try expect(try await free([Sample.origin], signedIn: true), is: 0)
      _ = bench.log.take()
      try expect(try await free([Sample.secondOrigin], limit: 1), is: 1)
      try expect(try await free([Sample.secondOrigin]), is: 1)
      try expect(try await free([Sample.secondOrigin]), is: 0)
      try expect(bench.log.take().ready(Sample.work), is: .all)
      let demand = OutboxDemand(
        account: Sample.work, subject: Sample.alice, lanes: 9, unordered: 9, takesFollowers: false,
        open: [Sample.secondOrigin], configured: [Sample.origin, Sample.secondOrigin], expiry: .agreed(start),
        policy: DeliveryPolicy(OutboxSettings()))
      let claims = try await store.exchange([], releasing: [], claiming: [demand]).claimed[Sample.work]?.claims ?? []
      try expect(Set(claims.paths), is: ["/1", "/u"])
      // The API asks for a step-up.
      let answered = try await store.settle(claims.settled { _ in .needsStepUp(status: 401, error: "step up") })
      try expect(answered.claims, is: [])
      try expect([try await store.item(ids[0])?.reason], is: [.needsStepUp])
      try expect([try await store.item(ids[0])?.attempts, try await store.item(ids[0])?.lastStatus], is: [0, 401])
      try expect(try await free([Sample.origin, Sample.secondOrigin]), is: 0)
      try expect(try await store.change(ids[0], .retry).state, is: .pending)
      try expect(try await free([], signedIn: true), is: 1)
      let last = try await store.exchange([], releasing: [], claiming: [demand]).claimed[Sample.work]?.claims ?? []
      try expect(Set(last.paths), is: ["/1", "/u"])
      _ = try await store.exchange(last.settled { _ in .delivered(status: 200) }, releasing: [], claiming: [])
      try expect(try await store.settle().claims.paths, is: ["/2"])
    },
    OutboxFact("an item held in its place can be cancelled, replaced and discarded, and its lane continues") { bench in
      let store = bench.store
      let second = "https://second.example.com"
      let ids = try await bench.add(
        Sample.draft("/1", origin: second), Sample.draft("/2"), Sample.draft("/a1", lane: "a", origin: second),
        Sample.draft("/a2", lane: "a")
      ).map(\.item.id)
      try expect(try await store.settle().claims, is: [])
      try expect(try await store.changeAll(of: Sample.work, in: .held, .retry, limit: 9), is: 2)
      try expect(try await store.settle().claims, is: [])
      try expect(try await store.change(ids[0], .cancel).state, is: .cancelled)
      try expect(try await store.settle().claims.paths, is: ["/2"])
      let reopened = try bench.reopen()
      try await reopened.recover()
      try expect(try await reopened.stats(of: Sample.work).held, is: 1)
      try expect(try await reopened.settle().claims.paths, is: ["/2"])
      try expect(try await reopened.purge(Sample.work, of: Sample.alice, limit: 9), is: 3)
      try expect(try await reopened.stats(of: nil).held, is: 0)
    },
    OutboxFact("items from a former name get the new name") { bench in
      let id = try await bench.add(Sample.draft("/1"))[0].item.id
      let binding = try await bench.store.bind(
        Sample.work, to: Sample.bob, formerly: Sample.alice, adopts: false, limit: 9)
      try expect(binding, is: OutboxBinding(isDone: true, holdsOthers: false))
      try expect(try await bench.store.item(id)?.subject, is: Sample.bob)
    },
  ]
}
