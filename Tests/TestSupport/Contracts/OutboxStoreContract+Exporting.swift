import HearthCore

extension OutboxStoreBench {
  fileprivate func exported(_ query: OutboxQuery = OutboxQuery(), bytes: Int = 1 << 20) async throws -> ExportPage {
    try await store.export(query, bytes: bytes)
  }

  /// Stores items like an import.
  @discardableResult
  fileprivate func restore(
    _ items: [ExportedItem], at now: Timestamp = Sample.start, within settings: OutboxSettings = OutboxSettings()
  ) async throws -> [OutboxReceipt] {
    try await store.enqueue(try new(items, at: now), within: settings)
  }

  fileprivate func new(
    _ items: [ExportedItem], at now: Timestamp = Sample.start, within settings: OutboxSettings = OutboxSettings()
  ) throws -> [NewOutboxItem] {
    try items.map { item in
      NewOutboxItem(
        id: item.id, draft: item.draft, url: try item.draft.checked(maxBody: 1 << 20), subject: item.subject,
        kept: try item.kept(horizon: settings.idempotencyHorizon, at: now))
    }
  }
}

extension ExportedItem {
  fileprivate static func made(
    _ number: Int, _ path: String, subject: Subject? = Sample.alice, state: OutboxItem.State = .pending,
    reason: OutboxItem.Reason? = nil, replaceKey: String? = nil, lane: String? = "default", age: Duration = .zero
  ) -> ExportedItem {
    ExportedItem(
      id: OutboxItem.makeID(at: Sample.start, random: (0, UInt64(number))), subject: subject,
      draft: Sample.draft(path, body: "body", lane: lane, replaceKey: replaceKey), state: state, reason: reason,
      attempts: 3, createdAt: Sample.start - .seconds(60), lastStatus: 503, lastError: "busy",
      exportedAt: Sample.start - age)
  }
}

/// The promises of `OutboxStore` for items that move from one outbox to another.
extension OutboxStoreContract {
  static let exporting: [OutboxFact] = [
    OutboxFact("an export has everything that was enqueued, except what is delivered, cancelled or superseded") {
      bench in
      var full = Sample.draft(
        "/full", body: "body", lane: "a", key: "k", replaceKey: "r", notBefore: start + .seconds(60),
        expiresAt: start + .seconds(90))
      full.headers = [APIRequest.Header(name: "X-Kind", value: "note")]
      full.expect = .json
      let drafts = [Sample.draft("/dead"), Sample.draft("/gone"), full, Sample.draft("/u", lane: nil)]
      var receipts: [OutboxReceipt] = []
      for draft in drafts { receipts += try await bench.add(draft) }
      receipts += try await bench.add(Sample.draft("/bob"), subject: Sample.bob)
      try await bench.store.finish { delivery in
        delivery.item.url.hasSuffix("/dead") ? .dead(.rejected, status: 400, error: "no") : .released
      }
      _ = try await bench.store.change(receipts[1].item.id, .cancel)
      let page = try await bench.exported()
      try expect(page.items.map(\.id), is: [0, 2, 3, 4].map { receipts[$0].item.id })
      try expect(page.items[0].state, is: .dead)
      try expect([page.items[0].reason], is: [.rejected])
      try expect(page.items[1].draft, is: full)
      try expect(page.items[2].draft.isUnordered, is: true)
      try expect(page.items.map(\.subject), is: [Sample.alice, Sample.alice, Sample.alice, Sample.bob])
      try expect(page.items.map(\.exportedAt), is: Array(repeating: start, count: 4))
      try expect(try await bench.exported(OutboxQuery(state: .dead)).items.map(\.id), is: [receipts[0].item.id])
    },
    OutboxFact("a dry run says what would happen to items, and stores nothing") { bench in
      func rehearsed(_ items: [ExportedItem], within settings: OutboxSettings = OutboxSettings()) async throws
        -> [OutboxReceipt]
      { try await bench.store.rehearse(bench.new(items), within: settings) }
      var keyed = ExportedItem.made(1, "/keyed")
      keyed.draft.idempotencyKey = "k"
      let first = try await bench.restore([keyed, .made(2, "/plain")])
      _ = bench.log.take()
      // From another outbox, with its own id.
      var again = ExportedItem.made(3, "/keyed")
      again.draft.idempotencyKey = "k"
      let items = [again, .made(2, "/plain"), .made(4, "/new", replaceKey: "r"), .made(4, "/new", replaceKey: "r")]
      let receipts = try await rehearsed(items)
      try expect(receipts.map(\.isDuplicate), is: [true, true, false, true])
      try expect(receipts.prefix(2).map(\.item), is: first.map(\.item))
      try expect(try await bench.store.list(OutboxQuery()).items, is: first.map(\.item))
      try expect(bench.log.take().isEmpty, is: true)
      try expect(try await bench.restore(items), is: receipts)
      try await expect(throws: OutboxStoreFailure.full) {
        try await rehearsed([.made(6, "/6"), .made(7, "/7")], within: OutboxSettings(maxItems: 4, maxBytes: 9999))
      }
      var other = ExportedItem.made(5, "/other")
      other.draft.idempotencyKey = "k"
      let conflict = [.made(6, "/new"), other]
      try await expect(throws: OutboxStoreFailure.keyConflict(at: 1)) { try await rehearsed(conflict) }
    },
    OutboxFact("an item that waits for a retry or for its time waits as long after an import") { bench in
      try await bench.add(
        Sample.draft("/later", lane: nil), Sample.draft("/now", lane: nil),
        Sample.draft("/timed", lane: nil, notBefore: start + .seconds(90)))
      try await bench.store.finish { $0.request.url.target == "/now" ? .released : wait(.seconds(60)) }
      let exported = try await bench.exported().items
      let waits = [start + .seconds(60), nil, start + .seconds(90)]
      try expect(exported.map(\.nextAttemptAt), is: waits)
      let anew = exported.enumerated().map { place, item in
        var item = item
        item.id = OutboxItem.makeID(at: start, random: (1, UInt64(place)))
        return item
      }
      try expect(try await bench.restore(anew).map(\.item.nextAttemptAt), is: waits)
      // The other clock was an hour ahead, and the wait is longer than an API may ask for.
      var ahead = anew[1]
      (ahead.id, ahead.state) = (OutboxItem.makeID(at: start, random: (2, 0)), .waiting)
      (ahead.exportedAt, ahead.nextAttemptAt) = (start + .seconds(3600), start + .seconds(3630))
      var long = ahead
      (long.id, long.nextAttemptAt) = (OutboxItem.makeID(at: start, random: (2, 1)), start + .seconds(9_000_000))
      let receipts = try await bench.restore([ahead, long])
      try expect(receipts.map(\.item.nextAttemptAt), is: [start + .seconds(30), start + .seconds(86_400)])
    },
    OutboxFact("an export is paged by number and by size, and a large item comes alone") { bench in
      for body in ["1", "22222222", "3", "4"] { try await bench.add(Sample.draft("/n", body: body)) }
      var (query, pages) = (OutboxQuery(), [[String]]())
      repeat {
        let page = try await bench.exported(query, bytes: 2 * 26)
        pages.append(page.items.map { String(decoding: $0.draft.body, as: UTF8.self) })
        query.cursor = page.cursor
      } while query.cursor != nil
      try expect(pages, is: [["1"], ["22222222"], ["3", "4"]])
      try expect(try await bench.exported(OutboxQuery(limit: 3)).items.count, is: 3)
    },
    OutboxFact("an item in flight is exported as one") { bench in
      try await bench.add(Sample.draft("/1"))
      let claim = try await bench.store.settle().claims[0]
      try expect(bench.store.begin(claim.deliveries[0].number, of: claim.epoch), is: true)
      try expect(try await bench.exported().items.map(\.state), is: [.inFlight])
    },
    OutboxFact("imported items keep their order and past, and are stored once, however often they come") { bench in
      let items = [
        ExportedItem.made(1, "/1"), .made(2, "/dead", state: .dead, reason: .redirected), .made(3, "/2"),
        .made(4, "/held", state: .held, reason: .needsReview), .made(5, "/u", lane: nil),
      ]
      let receipts = try await bench.restore(items)
      try expect(receipts.map(\.isDuplicate), is: Array(repeating: false, count: 5))
      try expect(receipts.map(\.item.state), is: [.pending, .dead, .pending, .held, .pending])
      let again = try await bench.restore(items)
      try expect(again.map(\.isDuplicate), is: Array(repeating: true, count: 5))
      try expect(again.map(\.item), is: receipts.map(\.item))
      for store in [bench.store, try bench.reopen()] {
        try expect(try await store.list(OutboxQuery()).items, is: receipts.map(\.item))
        let stats = try await store.stats(of: Sample.work)
        try expect([stats.pending, stats.held, stats.dead], is: [3, 1, 1])
        try expect(stats.oldestPendingAt, is: start - .seconds(60))
      }
      let first = try await bench.store.item(items[0].id)!
      try expect([first.attempts, first.lastStatus ?? 0], is: [3, 503])
      try expect([first.lastError, first.idempotencyKey], is: ["busy", items[0].id])
      try expect(first.createdAt, is: start - .seconds(60))
      let claims = try await bench.store.settle(takesFollowers: true).claims
      try expect(Set(claims.map(\.deliveries).map { $0.map(\.request.url.target) }), is: [["/1", "/2"], ["/u"]])
    },
    OutboxFact("an item that exists, or was delivered or cancelled meanwhile, is not imported again") { bench in
      let ids = try await bench.add(Sample.draft("/1"), Sample.draft("/2")).map(\.item.id)
      let items = try await bench.exported().items
      _ = try await bench.store.change(ids[1], .cancel)
      try await bench.store.finish { _ in .delivered(status: 200) }
      let again = try await bench.restore(items)
      try expect(again.map(\.isDuplicate), is: [true, true])
      try expect(again.map(\.item.state), is: [.delivered, .cancelled])
      var other = items[0]
      other.draft.url += "/other"
      try await expect(throws: OutboxStoreFailure.keyConflict(at: 0)) { try await bench.restore([other]) }
    },
    OutboxFact("an item of another user is held until that user is back") { bench in
      _ = try await bench.store.bind(
        Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      let receipts = try await bench.restore([.made(1, "/bob", subject: Sample.bob), .made(2, "/1")])
      try expect(receipts.map(\.item.state), is: [.held, .pending])
      try expect([receipts[0].item.reason], is: [.otherUser])
      try expect(try await bench.store.settle(takesFollowers: true).claims.paths, is: ["/1"])
      _ = try await bench.store.bind(
        Sample.work, to: Sample.bob, formerly: nil, adopts: true, limit: 9)
      try expect(try await bench.store.settle(subject: Sample.bob, takesFollowers: true).claims.paths, is: ["/bob"])
    },
    OutboxFact("an older or dead item does not replace a newer one") { bench in
      let there = try await bench.add(Sample.draft("/new", replaceKey: "r"))[0].item
      let older = try await bench.restore([.made(1, "/old", replaceKey: "r")])
      try expect(older.map(\.isDuplicate), is: [true])
      try expect(older.map(\.item), is: [there])
      try await bench.restore([.made(2, "/dead", state: .dead, reason: .rejected, replaceKey: "r")])
      try expect(try await bench.store.item(there.id)?.state, is: .pending)
    },
    OutboxFact("of two values with one replaceKey, the later one is the newer, whichever user was known") {
      bench in
      let store = bench.store
      func bind() async throws {
        _ = try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      }
      func nobodys(_ number: Int, _ path: String, createdAt: Timestamp) async throws -> String {
        var item = ExportedItem.made(number, path, subject: nil, replaceKey: "r")
        item.createdAt = createdAt
        let receipt = try await bench.restore([item], at: bench.clock.now())[0]
        try await bind()
        return receipt.item.id
      }
      try await bind()
      try await bench.add(Sample.draft("/delivered", replaceKey: "r"))
      try await store.finish { _ in .delivered(status: 200) }
      let older = try await nobodys(1, "/older", createdAt: start - .seconds(60))
      try expect(try await store.item(older)?.state, is: .superseded)
      bench.clock.advance(by: .seconds(90))
      let newer = try await nobodys(2, "/newer", createdAt: start + .seconds(80))
      let between = try await nobodys(3, "/between", createdAt: start + .seconds(70))
      try expect(try await store.item(between)?.state, is: .superseded)
      // A newly enqueued item is the newest, although the clock was ahead.
      bench.clock.step(by: .seconds(-3600))
      try await bench.add(Sample.draft("/newest", replaceKey: "r"))
      try expect(try await store.item(newer)?.state, is: .superseded)
      try expect(try await store.settle().claims.paths, is: ["/newest"])
    },
    OutboxFact("an item that was exported longer ago than the horizon needs review before it is sent again") { bench in
      let late = OutboxSettings().idempotencyHorizon + .seconds(1)
      let receipts = try await bench.restore([.made(1, "/late", lane: "late", age: late), .made(2, "/1")])
      try expect(try await bench.store.settle(takesFollowers: true).claims.paths, is: ["/1"])
      let item = try await bench.store.item(receipts[0].item.id)
      try expect([item?.reason], is: [.needsReview])
    },
    OutboxFact("an item that does not fit is not stored") { bench in
      let settings = OutboxSettings(maxItems: 1, maxBytes: 99)
      try await expect(throws: OutboxStoreFailure.full) {
        try await bench.restore([.made(1, "/1"), .made(2, "/2")], within: settings)
      }
      try expect(try await bench.paths(), is: [])
    },
  ]
}
