import HearthCore

/// The promises of `OutboxStore` for the keys of callers, and for users without a name.
extension OutboxStoreContract {
  static let keys: [OutboxFact] = [
    OutboxFact("a newer item supersedes each older one with its replaceKey: in any lane or none, waiting, held or dead")
    {
      bench in
      let store = bench.store
      let ids = try await bench.add(
        Sample.draft("/dead", lane: "a", replaceKey: "r"), Sample.draft("/behind", lane: "a")
      ).map(\.item.id)
      try await store.finish { _ in .dead(.rejected, status: 400, error: "no") }
      try await bench.add(Sample.draft("/bobs", replaceKey: "r"), subject: Sample.bob)
      // Each newer item supersedes the previous one.
      let second = try await bench.add(Sample.draft("/waiting", lane: nil, replaceKey: "r"))[0].item.id
      try expect(try await store.item(ids[0])?.state, is: .superseded)
      try await expect(throws: OutboxStoreFailure.invalidState(.superseded)) {
        try await store.change(ids[0], .retry)
      }
      try await store.finish { $0.item.id == second ? wait(.seconds(60)) : .delivered(status: 200) }
      let third = try await bench.add(
        Sample.draft("/held", lane: "b", replaceKey: "r", origin: "https://second.example.com"))[0].item.id
      try expect(try await store.item(second)?.state, is: .superseded)
      try expect(try await store.settle().claims, is: [])
      try expect(try await store.item(third)?.state, is: .held)
      let last = try await bench.add(Sample.draft("/last", lane: "c", replaceKey: "r"))[0].item.id
      try expect(try await store.item(third)?.state, is: .superseded)
      try expect(try await store.settle().claims.paths, is: ["/last"])
      try expect(try await bench.paths(OutboxQuery(state: .pending)).count, is: 2)
      // Even if the newer item is then refused.
      _ = try await store.change(last, .cancel)
      try expect(try await store.settle().claims, is: [])
    },
    OutboxFact(
      "one in flight is not tried again once a newer one with its replaceKey is there, which waits for its end"
    ) {
      bench in
      let store = bench.store
      for (number, outcome) in [
        wait(.seconds(60)), .released, .unreachable(probeIn: .zero, status: nil, error: "no"),
        .dead(.rejected, status: 400, error: "no"), .needsStepUp(status: 401, error: "no"),
      ].enumerated() {
        let key = "r\(number)"
        let old = try await bench.add(Sample.draft("/old", lane: nil, replaceKey: key))[0].item.id
        let claim = try await store.settle().claims[0]
        try expect(store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
        try await bench.add(Sample.draft("/new", lane: "\(number)", replaceKey: key))
        try expect(try await store.settle().claims, is: [])
        let next = try await store.settle([claim].settled { _ in outcome }).claims
        try expect(next.paths, is: ["/new"])
        try expect(try await store.item(old)?.state, is: .superseded)
        _ = try await store.exchange(next.settled { _ in .delivered(status: 200) }, releasing: [], claiming: [])
      }
      let old = try await bench.add(Sample.draft("/old", lane: nil, replaceKey: "r"))[0].item.id
      let claim = try await store.settle().claims[0]
      try expect(store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      try await bench.add(Sample.draft("/new", replaceKey: "r"))
      // Not after a crash either.
      let reopened = try bench.reopen()
      try await reopened.recover()
      try expect(try await reopened.settle().claims.paths, is: ["/new"])
      try expect(try await reopened.settle().claims, is: [])
      try expect(try await reopened.item(old)?.state, is: .superseded)
    },
    OutboxFact("items behind newer ones that wait for older requests do not wait, however many they are") {
      bench in
      let store = bench.store
      func fill(_ path: String) async throws {
        for number in 0..<6 {
          try await bench.add(
            Sample.draft(path, lane: nil, replaceKey: "u\(number)"),
            Sample.draft(path, lane: path + "\(number)", replaceKey: "l\(number)"))
        }
      }
      try await fill("/old")
      for claim in try await store.settle().claims {
        try expect(store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      }
      try await fill("/new")
      try await bench.add(Sample.draft("/unordered", lane: nil), Sample.draft("/lane", lane: "further"))
      try expect(Set(try await store.settle(limit: 1).claims.paths), is: ["/unordered", "/lane"])
    },
    OutboxFact("the key of an item that ended unsent is free; one whose request may have been sent is not") {
      bench in
      let store = bench.store
      func add(_ body: String = "a", expiresAt: Timestamp? = nil, replaceKey: String? = nil) async throws
        -> OutboxReceipt
      {
        try await bench.add(
          Sample.draft("/1", body: body, key: "k", replaceKey: replaceKey, expiresAt: expiresAt))[0]
      }
      // Cancelled, expired, discarded and replaced items.
      let cancelled = try await add()
      _ = try await store.change(cancelled.item.id, .cancel)
      let expired = try await add(expiresAt: start + .seconds(1))
      try expect(expired.isDuplicate, is: false)
      _ = try await store.expire(limit: 9, by: start + .seconds(2))
      let discarded = try await add("b")
      try expect(discarded.isDuplicate, is: false)
      try expect(try await store.purge(Sample.work, of: Sample.alice, limit: 9), is: 2)
      let replaced = try await add("c", replaceKey: "r")
      try expect(replaced.isDuplicate, is: false)
      try await bench.add(Sample.draft("/2", replaceKey: "r"))
      let last = try await add("d")
      try expect(last.isDuplicate, is: false)
      try expect(try await add("d").item.id, is: last.item.id)
      let claims = try await store.settle(takesFollowers: true).claims
      for delivery in claims[0].deliveries { try expect(store.begin(delivery.number, of: claims[0].epoch), is: true) }
      try expect(try await store.purge(Sample.work, of: Sample.alice, limit: 9), is: 2)
      try expect(try await add("d").isDuplicate, is: true)
      try await expect(throws: OutboxStoreFailure.keyConflict(at: 0)) { try await add("e") }
    },
    OutboxFact("a key stays with its content once a request may have been sent, whatever happens to the item") {
      bench in
      var store = bench.store
      let outcomes: [(DeliveryOutcome, isRetried: Bool)] = [
        (.dead(.rejected, status: 422, error: "no"), true), (.needsStepUp(status: 403, error: "no"), false),
        (.needsStepUp(status: 403, error: "no"), true), (.unreachable(probeIn: .zero, status: 511, error: "no"), false),
        (.released, false), (.dead(.attemptsExhausted, status: nil, error: "no"), true),
      ]
      for (number, (outcome, isRetried)) in outcomes.enumerated() {
        let draft = Sample.draft("/\(number)", body: "a", lane: nil, key: "k\(number)")
        let id = try await bench.add(draft)[0].item.id
        let claims = try await store.settle().claims
        _ = try await store.exchange(claims.settled(hasLeft: true) { _ in outcome }, releasing: [], claiming: [])
        if isRetried { _ = try await store.change(id, .retry) }
        // An export also says that the request may have been sent.
        try expect(try await store.export(OutboxQuery(), bytes: 1 << 20).items.map(\.mayHaveLeft), is: [true])
        if number.isMultiple(of: 2) {
          _ = try await store.change(id, .cancel)
        } else {
          try expect(try await store.purge(Sample.work, of: Sample.alice, limit: 9), is: 1)
        }
      }
      store = try bench.reopen()
      try await store.recover()
      for number in outcomes.indices {
        func add(_ body: String) throws -> NewOutboxItem {
          let draft = Sample.draft("/\(number)", body: body, lane: nil, key: "k\(number)")
          return NewOutboxItem(
            id: "new", draft: draft, url: try draft.checked(maxBody: 9), subject: Sample.alice)
        }
        try await expect(throws: OutboxStoreFailure.keyConflict(at: 0)) {
          try await store.enqueue([add("b")], within: OutboxSettings())
        }
        try expect(try await store.enqueue([add("a")], within: OutboxSettings())[0].isDuplicate, is: true)
      }
    },
    OutboxFact(
      "items of a user without a name are the sign-in's: after its sign-out they wait for a person, in their order"
    ) {
      bench in
      let store = bench.store
      func bind(_ subject: Subject, formerly former: Subject? = nil) async throws -> OutboxBinding {
        try await store.bind(
          Sample.work, to: subject, formerly: former, adopts: subject != .unnamedBefore, limit: 9)
      }
      try await bench.add(Sample.draft("/nobodys"), subject: nil)
      try expect(try await bind(.unnamed).holdsOthers, is: false)
      try await bench.add(Sample.draft("/1"), Sample.draft("/2"), subject: .unnamed)
      try await bench.add(Sample.draft("/bobs", lane: "b"), subject: Sample.bob)
      let first = try await store.settle(subject: .unnamed).claims
      try expect(first.paths, is: ["/nobodys"])
      _ = try await store.exchange(first.settled { _ in wait(.seconds(1)) }, releasing: [], claiming: [])
      _ = bench.log.take()
      let left = try await bind(.unnamedBefore, formerly: .unnamed)
      try expect(left, is: OutboxBinding(isDone: true, holdsOthers: true))
      try expect(bench.log.take().stats(of: Sample.work)?.held, is: 4)
      try expect(try await bind(.unnamedBefore, formerly: .unnamed).holdsOthers, is: false)
      let held = try await store.list(OutboxQuery(state: .held)).items
      try expect(Set(held.map(\.reason)), is: [.otherUser])
      // The next user without a name is a different one, who gets the items that belong to nobody.
      try await bench.add(Sample.draft("/next"), subject: nil)
      _ = try await bind(.unnamed)
      let next = try await store.settle(subject: .unnamed).claims
      try expect(next.paths, is: ["/next"])
      _ = try await store.exchange(next.settled { _ in .delivered(status: 200) }, releasing: [], claiming: [])
      try await expect(throws: OutboxStoreFailure.invalidState(.held, .otherUser)) {
        try await store.change(held.first { $0.subject == Sample.bob }!.id, .retry)
      }
      try expect(try await store.changeAll(of: Sample.work, in: .held, .retry, limit: 9), is: 3)
      try expect(try await store.changeAll(of: Sample.work, in: .held, .retry, limit: 9), is: 0)
      _ = try await bind(.unnamed)
      bench.clock.jump(to: start + .seconds(60))
      try expect(
        try await store.settle(subject: .unnamed, takesFollowers: true).claims.paths, is: ["/nobodys", "/1", "/2"])
      // A user who now has a name is the same user.
      _ = try await bind(Sample.alice)
      try expect(try await store.stats(of: Sample.work).held, is: 1)
    },
  ]
}
