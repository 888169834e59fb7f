package import HearthCore

/// An empty outbox, and how the next process opens it again.
package struct OutboxStoreBench: Sendable {
  let store: any OutboxStore
  let log: CommitLog
  /// The store's clock, which starts at `Sample.start`.
  let clock: ManualClock
  /// The same outbox after a crash, without what was not written yet.
  let reopen: @Sendable () throws -> any OutboxStore

  package init(
    _ store: any OutboxStore, clock: ManualClock, reopen: @escaping @Sendable () throws -> any OutboxStore
  ) {
    self.store = store
    self.clock = clock
    self.reopen = reopen
    log = CommitLog(of: store)
  }

  @discardableResult
  func add(
    _ drafts: OutboxDraft..., subject: Subject? = Sample.alice, within settings: OutboxSettings = OutboxSettings()
  ) async throws -> [OutboxReceipt] {
    let items = try drafts.map { draft in
      let id = OutboxItem.makeID(at: Sample.start, random: (.random(in: 0...(.max)), .random(in: 0...(.max))))
      return NewOutboxItem(id: id, draft: draft, url: try draft.checked(maxBody: 1 << 20), subject: subject)
    }
    return try await store.enqueue(items, within: settings)
  }

  func paths(_ query: OutboxQuery = OutboxQuery()) async throws -> [String] {
    try await store.list(query).items.map { String($0.url.dropFirst("https://api.example.com".count)) }
  }
}

extension OutboxSettings {
  init(maxItems: Int, maxBytes: Int) {
    self.init()
    (self.maxItems, self.maxBytes) = (maxItems, maxBytes)
  }
}

extension OutboxStore {
  /// Settles deliveries, and claims the next ones of the account.
  func settle(
    _ settled: [Settlement] = [], releasing released: [Int64] = [], subject: Subject? = Sample.alice,
    takesFollowers: Bool = false, limit: Int = 100,
    by expiry: ExpiryTime = .agreed(Sample.start)
  ) async throws -> (claims: [LaneClaim], claimed: OutboxExchange.Claimed) {
    let demand = OutboxDemand(
      account: Sample.work, subject: subject, lanes: limit, unordered: limit, takesFollowers: takesFollowers,
      open: [Sample.origin], configured: [Sample.origin], expiry: expiry, policy: DeliveryPolicy(OutboxSettings()))
    let exchange = try await exchange(settled, releasing: released, claiming: [demand])
    let claimed = exchange.claimed[Sample.work] ?? OutboxExchange.Claimed()
    return (claimed.claims, claimed)
  }

  fileprivate func oldest() async throws -> Timestamp? { try await stats(of: Sample.work).oldestPendingAt }

  /// Claims everything that is due, and settles it with this outcome.
  func finish(_ outcome: (Delivery) -> DeliveryOutcome) async throws {
    let claims = try await settle().claims
    _ = try await exchange(claims.settled(outcome), releasing: [], claiming: [])
  }
}

extension [LaneClaim] {
  var paths: [String] { deliveries.map(\.request.url.target) }
}

/// The promises of `OutboxStore`.
package enum OutboxStoreContract {
  package typealias OutboxFact = Fact<OutboxStoreBench>

  package static let facts = keeping + delivering + changing + timing + owning + housekeeping + exporting + keys

  static let start = Sample.start

  static func wait(_ duration: Duration, isUnanswered: Bool = false) -> DeliveryOutcome {
    .waiting(
      DeliveryOutcome.Wait(
        duration: duration, unknownFor: isUnanswered ? .zero : nil, isConflict: false,
        status: isUnanswered ? nil : 503, error: "no"))
  }

  private static let keeping: [OutboxFact] = [
    OutboxFact("an enqueued item keeps its order, and is found by its id, in lists and in counts, even after a crash") {
      bench in
      let receipts = try await bench.add(Sample.draft("/1"), Sample.draft("/2", body: "12345"), Sample.draft("/3"))
      try expect(receipts.map(\.isDuplicate), is: [false, false, false])
      for store in [bench.store, try bench.reopen()] {
        try expect(try await store.list(OutboxQuery()).items, is: receipts.map(\.item))
        try expect(try await store.item(receipts[1].item.id), is: receipts[1].item)
        try expect(try await store.item("none"), is: nil)
        let stats = try await store.stats(of: Sample.work)
        try expect([stats.pending, stats.bytes], is: [3, 5 + 3 * 25])
        try expect(try await store.stats(of: nil).pending, is: 3)
        try expect(try await store.stats(of: Sample.other), is: OutboxStats())
      }
    },
    OutboxFact("many items are stored completely or not at all") { bench in
      try await bench.add(Sample.draft("/1", body: "a", key: "k"))
      try await expect(throws: OutboxStoreFailure.keyConflict(at: 1)) {
        try await bench.add(Sample.draft("/2"), Sample.draft("/1", body: "b", key: "k"))
      }
      try await expect(throws: OutboxStoreFailure.full) {
        try await bench.add(Sample.draft("/2"), Sample.draft("/3"), within: OutboxSettings(maxItems: 2, maxBytes: 9))
      }
      try await expect(throws: OutboxStoreFailure.full) {
        try await bench.add(Sample.draft("/2", body: "123456789"), within: OutboxSettings(maxItems: 2, maxBytes: 9))
      }
      try expect(try await bench.paths(), is: ["/1"])
    },
    OutboxFact("the byte limit counts everything of an item that can be long: its body, headers and URL") {
      bench in
      var draft = Sample.draft("/1", body: "body")
      draft.headers = [APIRequest.Header(name: "X-Kind", value: "note")]
      let bytes = 4 + 10 + "https://api.example.com/1".utf8.count
      try await expect(throws: OutboxStoreFailure.full) {
        try await bench.add(draft, within: OutboxSettings(maxItems: 9, maxBytes: bytes - 1))
      }
      try expect(
        try await bench.add(draft, within: OutboxSettings(maxItems: 9, maxBytes: bytes)).map(\.item.bytes), is: [bytes])
      try expect(try await bench.store.stats(of: nil).bytes, is: bytes)
    },
    OutboxFact("the same key with the same content returns the existing item") { bench in
      let first = try await bench.add(Sample.draft("/1", body: "a", key: "k"))
      let again = try await bench.add(Sample.draft("/1", body: "a", key: "k"), Sample.draft("/2"))
      try expect(again.map(\.isDuplicate), is: [true, false])
      try expect(again.first?.item, is: first.first?.item)
      try expect(try await bench.paths(), is: ["/1", "/2"])
    },
    OutboxFact("a list is paged in the order of the items, and filters by account, state and lane") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2", lane: nil), Sample.draft("/3"))
      let page = try await bench.store.list(OutboxQuery(limit: 2))
      try expect(page.items.count, is: 2)
      try expect(try await bench.paths(OutboxQuery(limit: 2, cursor: page.cursor)), is: ["/3"])
      try expect(try await bench.store.list(OutboxQuery(limit: 3)).cursor, is: nil)
      try expect(try await bench.paths(OutboxQuery(lane: "default")), is: ["/1", "/3"])
      try expect(try await bench.paths(OutboxQuery(state: .dead)), is: [])
      try expect(try await bench.paths(OutboxQuery(account: Sample.other)), is: [])
    },
    OutboxFact("a call completes even if its task is cancelled") { bench in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask { _ = try await bench.add(Sample.draft("/1")) }
        try await group.waitForAll()
      }
      try expect(try await bench.paths(), is: ["/1"])
    },
    OutboxFact("each commit is received once, in order, with its changes, before its call returns") { bench in
      let receipts = try await bench.add(Sample.draft("/1"), Sample.draft("/2", lane: nil))
      let enqueued = bench.log.take()
      try expect(enqueued.count, is: 1)
      try expect(enqueued.enqueued, is: receipts.map(\.item))
      try expect(enqueued.stats(of: Sample.work)?.pending, is: 2)
      try expect(enqueued.ready(Sample.work), is: .all)
      let claims = try await bench.store.settle().claims
      try expect(bench.log.take().changed, is: [])
      _ = try await bench.store.settle(claims.settled { _ in .delivered(status: 200) })
      let settled = bench.log.take()
      try expect(settled.changed.map(\.state), is: [.delivered, .delivered])
      try expect(settled.stats(of: Sample.work)?.delivered, is: 2)
      _ = try await bench.store.list(OutboxQuery())
      try expect(bench.log.take(), is: [])
    },
  ]

  private static let changing: [OutboxFact] = [
    OutboxFact("a cancelled item is not sent; a dead one that is retried goes to the end of its lane") { bench in
      let ids = try await bench.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3")).map(\.item.id)
      _ = bench.log.take()
      try await bench.store.finish { _ in .dead(.rejected, status: 400, error: "no") }
      try expect(bench.log.take().changed.map(\.state), is: [.dead])
      try expect(try await bench.store.change(ids[0], .retry).state, is: .pending)
      try expect(try await bench.store.change(ids[1], .cancel).state, is: .cancelled)
      try expect(try await bench.store.settle(takesFollowers: true).claims.paths, is: ["/3", "/1"])
    },
    OutboxFact("an item in flight cannot be changed; a claimed one can, and its claim then ends before it") {
      bench in
      let ids = try await bench.add(
        Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil)
      ).map(\.item.id)
      let claims = try await bench.store.settle(takesFollowers: true).claims
      let lane = claims.first { $0.deliveries.count == 3 }!
      try expect(bench.store.begin(lane.deliveries[0].number, of: lane.epoch), is: true)
      for change in [OutboxChange.cancel, .retry] {
        try await expect(throws: OutboxStoreFailure.invalidState(.inFlight)) {
          try await bench.store.change(ids[0], change)
        }
      }
      try await expect(throws: OutboxStoreFailure.unknownItem) {
        try await bench.store.change("none", .cancel)
      }
      for id in [ids[1], ids[3]] {
        try expect(try await bench.store.change(id, .cancel).state, is: .cancelled)
      }
      for claim in claims {
        for delivery in claim.deliveries where delivery.item.id != ids[0] {
          try expect(bench.store.begin(delivery.number, of: claim.epoch), is: false)
        }
      }
      try expect(try await bench.store.item(ids[0])?.state, is: .inFlight)
      try expect(try await bench.store.settle().claims, is: [])
      let next = try await bench.store.settle([
        Settlement(epoch: lane.epoch, number: lane.deliveries[0].number, outcome: .delivered(status: 200))
      ])
      try expect(next.claims.paths, is: ["/3"])
    },
    OutboxFact("a newer item replaces a claimed one with its key, but queues behind one that is in flight") { bench in
      let old = try await bench.add(Sample.draft("/old", replaceKey: "k"))[0].item.id
      let claimed = try await bench.store.settle().claims[0]
      try await bench.add(Sample.draft("/new", replaceKey: "k"))
      try expect(try await bench.store.item(old)?.state, is: .superseded)
      try expect(bench.store.begin(claimed.deliveries[0].number, of: claimed.epoch), is: false)
      let next = try await bench.store.settle().claims[0]
      try expect([next].paths, is: ["/new"])
      try expect(bench.store.begin(next.deliveries[0].number, of: next.epoch), is: true)
      try await bench.add(Sample.draft("/newer", replaceKey: "k"))
      try expect(try await bench.paths(OutboxQuery(state: .inFlight)), is: ["/new"])
      try expect(try await bench.store.settle().claims, is: [])
      let last = try await bench.store.settle([next].settled { _ in .delivered(status: 200) })
      try expect(last.claims.paths, is: ["/newer"])
    },
    OutboxFact("all dead items of an account are changed together, in limited steps") { bench in
      for path in ["/1", "/2", "/3"] { try await bench.add(Sample.draft(path, lane: nil)) }
      try await bench.store.finish { _ in .dead(.rejected, status: 400, error: "no") }
      func changeAll(_ change: OutboxChange, _ limit: Int) async throws -> Int {
        try await bench.store.changeAll(of: Sample.work, in: .dead, change, limit: limit)
      }
      try expect(try await changeAll(.retry, 2), is: 2)
      try expect(try await changeAll(.cancel, 2), is: 1)
      try expect(try await changeAll(.cancel, 2), is: 0)
      try expect(try await bench.store.settle().claims.count, is: 2)
    },
    OutboxFact("several calls retry each item only once, although it may be dead again in between") { bench in
      for path in ["/1", "/2"] { try await bench.add(Sample.draft(path, lane: nil)) }
      var place: Int64?
      var counts: [Int] = []
      for _ in 0..<3 {
        try await bench.store.finish { _ in .dead(.rejected, status: 400, error: "no") }
        let changed = try await bench.store.changeAll(of: Sample.work, in: .dead, .retry, upTo: place, limit: 1)
        (place, counts) = (changed.place, counts + [changed.count])
      }
      try expect(counts, is: [1, 1, 0])
    },
    OutboxFact("the oldest item that waits for delivery is reported, wherever it is") { bench in
      let first = try await bench.add(
        Sample.draft("/1"), Sample.draft("/2", lane: nil, notBefore: start + .seconds(99)))
      bench.clock.advance(by: .seconds(5))
      try await bench.add(Sample.draft("/3"), Sample.draft("/4", lane: "a", replaceKey: "r"))
      bench.clock.advance(by: .seconds(5))
      try await bench.add(Sample.draft("/4", lane: "a", replaceKey: "r"))
      try await bench.store.finish {
        $0.request.url.target == "/1" ? .dead(.rejected, status: 400, error: "no") : .released
      }
      try expect(try await bench.store.oldest(), is: start)
      _ = try await bench.store.change(first[1].item.id, .cancel)
      try expect(try await bench.store.oldest(), is: start + .seconds(5))
      // From now on it is behind the others.
      _ = try await bench.store.change(first[0].item.id, .retry)
      for store in [bench.store, try bench.reopen()] {
        try expect(try await store.oldest(), is: start)
      }
    },
    OutboxFact("an expired item is not retried, alone or among others, but can be cancelled") { bench in
      let ids = try await bench.add(
        Sample.draft("/1", lane: nil, expiresAt: start + .seconds(1)),
        Sample.draft("/2", lane: nil, expiresAt: start + .seconds(1)), Sample.draft("/3", lane: nil)
      ).map(\.item.id)
      let store = bench.store
      try expect(try await store.expire(limit: 9, by: start + .seconds(2)), is: nil)
      try await store.finish { _ in .dead(.rejected, status: 400, error: "no") }
      try await expect(throws: OutboxStoreFailure.invalidState(.dead, .expired)) {
        try await store.change(ids[0], .retry)
      }
      try expect(try await store.changeAll(of: Sample.work, in: .dead, .retry, limit: 1), is: 1)
      try expect(try await store.changeAll(of: Sample.work, in: .dead, .retry, limit: 1), is: 0)
      try expect(try await store.settle().claims.paths, is: ["/3"])
      try expect(try await store.change(ids[0], .cancel).state, is: .cancelled)
      try expect(try await store.changeAll(of: Sample.work, in: .dead, .cancel, limit: 9), is: 1)
    },
    OutboxFact("an item that waits for a retry can be made due now, but not one with a time to be sent") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2", lane: nil, notBefore: start + .seconds(9)))
      try await bench.store.finish { _ in wait(.seconds(60)) }
      try expect(try await bench.store.settle().claims, is: [])
      try expect(try await bench.store.retryNow(Sample.work, limit: 9), is: 1)
      try expect(try await bench.store.retryNow(Sample.work, limit: 9), is: 0)
      try expect(try await bench.store.settle().claims.paths, is: ["/1"])
    },
  ]

  private static let housekeeping: [OutboxFact] = [
    OutboxFact("expired items are dead, in limited steps") { bench in
      for path in ["/1", "/2"] {
        try await bench.add(Sample.draft(path, lane: nil, expiresAt: start + .seconds(9)))
      }
      _ = bench.log.take()
      try expect(try await bench.store.expire(limit: 9, by: start + .seconds(8)), is: start + .seconds(9))
      try expect(try await bench.store.expire(limit: 9, by: nil), is: start + .seconds(9))
      try expect(bench.log.take(), is: [])
      try expect(try await bench.store.expire(limit: 1, by: start + .seconds(10)), is: start + .seconds(9))
      let commits = bench.log.take()
      try expect(commits.changed.map(\.state), is: [.dead])
      try expect(commits.changed.map(\.reason), is: [.expired])
      try expect(commits.stats(of: Sample.work)?.dead, is: 1)
      try expect(try await bench.store.expire(limit: 9, by: start + .seconds(10)), is: nil)
      try expect(bench.log.take().changed.count, is: 1)
    },
    OutboxFact("an expired item does not begin although it is claimed, and one that has begun is not dead") { bench in
      for path in ["/1", "/2"] {
        try await bench.add(Sample.draft(path, lane: nil, expiresAt: start + .seconds(9)))
      }
      let claims = try await bench.store.settle().claims
      try expect(bench.store.begin(claims[0].deliveries[0].number, of: claims[0].epoch), is: true)
      try expect(try await bench.store.expire(limit: 9, by: start + .seconds(10)), is: nil)
      try expect(bench.store.begin(claims[1].deliveries[0].number, of: claims[1].epoch), is: false)
      let states = try await bench.store.list(OutboxQuery()).items.map(\.state)
      try expect(states, is: [.inFlight, .dead])
    },
    OutboxFact("only items that ended long ago are removed, in limited steps") { bench in
      for path in ["/1", "/2", "/3"] { try await bench.add(Sample.draft(path, lane: nil)) }
      try await bench.store.finish { _ in .delivered(status: 200) }
      try await bench.add(Sample.draft("/4"))
      var settings = OutboxSettings(maxItems: 2, maxBytes: 1 << 20)
      (settings.keepDelivered, settings.keepDead) = (.seconds(10), .seconds(10))
      func prune(_ limit: Int, by agreedTime: Timestamp?) async throws -> OutboxPruning {
        try await bench.store.prune(keeping: settings, limit: limit, by: agreedTime)
      }
      let kept = OutboxPruning(isMore: false, nextAt: start + .seconds(10))
      try expect(try await prune(9, by: start), is: kept)
      try expect(try await bench.paths().count, is: 3)
      try expect(try await prune(9, by: nil), is: kept)
      try expect(try await bench.paths().count, is: 3)
      try expect(
        try await prune(1, by: start + .seconds(11)), is: OutboxPruning(isMore: true, nextAt: start + .seconds(10)))
      try expect(try await prune(9, by: start + .seconds(11)), is: OutboxPruning(isMore: false, nextAt: nil))
      try expect(try await bench.paths(), is: ["/4"])
    },
    OutboxFact("accounts that the user has paused are remembered after a crash, until they are resumed") { bench in
      try await bench.store.setPaused([Sample.work, Sample.other], true)
      try await bench.store.setPaused([Sample.other], false)
      for store in [bench.store, try bench.reopen()] {
        try expect(try await store.configure([]), is: [Sample.work])
      }
    },
    OutboxFact("items of an account that is not configured are shown as held until it is configured again") { bench in
      try await bench.add(Sample.draft("/1"), Sample.draft("/2", account: Sample.other))
      let held = OutboxQuery(state: .held)
      for (configured, reasons) in [
        ([Sample.work, Sample.other], []), ([Sample.other], [.originNotConfigured]), ([Sample.work, Sample.other], []),
      ] as [(Set<AccountName>, [OutboxItem.Reason])] {
        _ = try await bench.store.configure(configured)
        try expect(try await bench.store.list(held).items.map(\.reason), is: reasons)
        try expect(try await bench.store.list(OutboxQuery(state: .pending)).items.count, is: 2 - reasons.count)
        let stats = try await bench.store.stats(of: Sample.work)
        try expect([stats.pending, stats.held], is: [1 - reasons.count, reasons.count])
      }
      _ = try await bench.store.configure([])
      try expect(try await bench.store.stats(of: nil).held, is: 2)
    },
  ]
}
