import HearthCore

/// What `OutboxStore` promises of the users whose items it keeps.
extension OutboxStoreContract {
  static let owning: [OutboxFact] = [
    OutboxFact("what was made while nobody was known becomes whose it is said to be, so many at a time") { bench in
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
    OutboxFact("of one write that was made twice, by its user and while nobody was known, the earlier one goes on") {
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
    OutboxFact("of one write that was made twice the one that is on its way goes on, and of two contents both do") {
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
      try expect(states, is: [.superseded, .pending, .inFlight, .pending])
      // The key stands for the one that was the user's before.
      let again = try await bench.add(
        Sample.draft("/1", body: "a", key: "1"), Sample.draft("/2", body: "b", lane: nil, key: "2"))
      try expect(again.map(\.item.id), is: late)
      let next = try await store.settle(
        claims.filter { $0.deliveries[0].item.id == late[0] }.settled { _ in
          .delivered(status: 200)
        })
      try expect(next.claims.paths, is: ["/2"])
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
    OutboxFact("items that were made under a former name become those of the new one") { bench in
      let id = try await bench.add(Sample.draft("/1"))[0].item.id
      let binding = try await bench.store.bind(
        Sample.work, to: Sample.bob, formerly: Sample.alice, adopts: false, limit: 9)
      try expect(binding, is: OutboxBinding(isDone: true, holdsOthers: false))
      try expect(try await bench.store.item(id)?.subject, is: Sample.bob)
    },
  ]
}
