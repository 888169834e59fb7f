import GRDB
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct ChangeTests {
  @Test("A cancelled item leaves its lane and loses its content; an item in flight cannot be cancelled")
  func cancel() async throws {
    try await withStore { outbox in
      let ids = try await outbox.add(Sample.draft("/1", body: "x"), Sample.draft("/2"), Sample.draft("/3")).map(
        \.item.id)
      #expect(try await outbox.store.change(ids[0], .cancel).state == .cancelled)
      #expect(try await outbox.store.change(ids[2], .cancel).state == .cancelled)
      let claimed = try await outbox.claim().deliveries
      #expect(claimed.map(\.path) == ["/2"])
      #expect(claimed.allSatisfy(outbox.begin))
      for (id, state) in [(ids[0], OutboxItem.State.cancelled), (ids[1], .inFlight)] {
        await #expect(throws: OutboxStoreFailure.invalidState(state)) {
          try await outbox.store.change(id, .cancel)
        }
      }
      await #expect(throws: OutboxStoreFailure.unknownItem) {
        try await outbox.store.change("none", .cancel)
      }
    }
  }

  @Test("Retry puts a dead item at its lane's end, as if new and with its old key")
  func retry() async throws {
    try await withStore { outbox in
      let ids = try await outbox.add(
        Sample.draft("/1", key: "k"), Sample.draft("/2")
      ).map(\.item.id)
      let first = try await outbox.claim().deliveries[0]
      _ = try await outbox.finish(first, .dead(.attemptsExhausted, status: 503, error: "no"))
      let item = try await outbox.store.change(ids[0], .retry)
      #expect(item.state == .pending)
      #expect(item.attempts == 0)
      let paths = try await outbox.claim(follows: true).deliveries
      #expect(paths.map(\.path) == ["/2", "/1"])
      #expect(paths.map(\.request.idempotencyKey) == [ids[1], "k"])
      #expect(paths.allSatisfy(outbox.begin))
      await #expect(throws: OutboxStoreFailure.invalidState(.inFlight)) {
        try await outbox.store.change(ids[0], .retry)
      }
    }
  }

  @Test("A retried item is not sent once it has expired")
  func retryBeforeExpiry() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(Sample.draft("/1", expiresAt: outbox.now + .seconds(9)))[0].item.id
      _ = try await outbox.finish(outbox.claim().deliveries[0], .dead(.rejected, status: 400, error: "no"))
      _ = try await outbox.store.change(id, .retry)
      outbox.now = outbox.now + .seconds(10)
      #expect(try await outbox.claim().deliveries.isEmpty)
      #expect(try await outbox.store.item(id)?.reason == .expired)
    }
  }

  @Test("All dead items of an account are retried or cancelled together")
  func bulk() async throws {
    try await withStore { outbox in
      for index in 0..<5 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      for delivery in try await outbox.claim().deliveries {
        _ = try await outbox.finish(delivery, .dead(.rejected, status: 400, error: "no"))
      }
      let store = outbox.store
      #expect(try await store.changeAll(of: Sample.work, in: .dead, .cancel, limit: 2) == 2)
      #expect(try await store.changeAll(of: Sample.work, in: .dead, .retry, limit: 9) == 3)
      #expect(try await store.changeAll(of: Sample.other, in: .dead, .retry, limit: 9) == 0)
      #expect(try await outbox.claim().deliveries.count == 3)
    }
  }

  @Test("Flushing makes retries due, near and far, and no more at a time than asked")
  func retryNow() async throws {
    try await withStore { outbox in
      for index in 0..<5 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      for (index, delivery) in try await outbox.claim().deliveries.enumerated() {
        _ = try await outbox.finish(delivery, outbox.wait(Int64(index) * 1000 + 10))
      }
      #expect(try await outbox.claim().deliveries.isEmpty)
      #expect(try await outbox.store.retryNow(Sample.work, limit: 100) == 5)
      #expect(try await outbox.store.retryNow(Sample.work, limit: 100) == 0)
      #expect(try await outbox.claim().deliveries.count == 5)
    }
  }

  @Test("A list is paged by a cursor, in order, and an item that moves is not seen twice")
  func paging() async throws {
    try await withStore { outbox in
      for index in 0..<25 {
        try await outbox.add(Sample.draft("/\(index)", lane: index.isMultiple(of: 2) ? "even" : nil))
      }
      var seen: [String] = []
      var cursor: String?
      repeat {
        let page = try await outbox.store.list(OutboxQuery(limit: 10, cursor: cursor))
        seen += page.items.map(\.url)
        cursor = page.cursor
      } while cursor != nil
      #expect(seen == (0..<25).map { "https://api.example.com/\($0)" })
      #expect(try await outbox.store.list(OutboxQuery(lane: "even", limit: 100)).items.count == 13)
      #expect(try await outbox.store.list(OutboxQuery(account: Sample.other)).items.isEmpty)
      #expect(try await outbox.store.list(OutboxQuery(state: .dead)).items.isEmpty)
    }
  }

  @Test("A user's pause is remembered")
  func pauses() async throws {
    try await withStore { outbox in
      try await outbox.store.setPaused([Sample.work, Sample.other], true)
      try await outbox.store.setPaused([Sample.other], false)
      let again = try SQLiteOutboxStore.open(at: outbox.path, clock: outbox.clock)
      #expect(try await again.store.configure([]) == [Sample.work])
    }
  }

  @Test("Sweeps remove what was finished long ago, in small steps, and the file shrinks")
  func prune() async throws {
    try await withStore { outbox in
      let body = String(repeating: "x", count: 20_000)
      for index in 0..<200 { try await outbox.add(Sample.draft("/\(index)", body: body, lane: nil)) }
      for (index, delivery) in try await outbox.claim(limit: 1000).deliveries.enumerated() {
        let outcome: DeliveryOutcome =
          index < 150 ? .delivered(status: 200) : .dead(.rejected, status: 400, error: "no")
        _ = try await outbox.finish(delivery, outcome)
      }
      let settings = OutboxSettings.keeping(delivered: .seconds(10), dead: .seconds(100), maxFinished: 1000)
      let before = try await outbox.pages()
      #expect(try await outbox.store.stats(of: nil).bytes == 50 * (20_000 + 27))
      outbox.now = outbox.now + .seconds(11)
      #expect(try await outbox.store.prune(keeping: settings, limit: 100, by: outbox.now).isMore)
      #expect(try await outbox.store.stats(of: nil).delivered == 50)
      while try await outbox.store.prune(keeping: settings, limit: 100, by: outbox.now).isMore {}
      var stats = try await outbox.store.stats(of: nil)
      #expect((stats.delivered, stats.dead) == (0, 50))
      outbox.now = outbox.now + .seconds(100)
      while try await outbox.store.prune(keeping: settings, limit: 100, by: outbox.now).isMore {}
      stats = try await outbox.store.stats(of: nil)
      #expect((stats.dead, stats.bytes) == (0, 0))
      #expect(try await outbox.pages() < before / 2)
    }
  }

  @Test("If more finished items exist than may be kept, they are removed early")
  func tooMany() async throws {
    try await withStore { outbox in
      for index in 0..<10 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      for delivery in try await outbox.claim().deliveries {
        _ = try await outbox.finish(delivery, .delivered(status: 200))
      }
      let settings = OutboxSettings.keeping(delivered: .seconds(1000), dead: .seconds(1000), maxFinished: 4)
      _ = try await outbox.store.prune(keeping: settings, limit: 100, by: outbox.now)
      #expect(try await outbox.store.stats(of: nil).delivered == 4)
    }
  }
}

extension StoreFixture {
  func pages() async throws -> Int {
    try await store.withConnection { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
  }
}
