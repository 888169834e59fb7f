import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct EnqueueTests {
  @Test("An item comes back as it was given, with its own key")
  func keeps() async throws {
    try await withStore { outbox in
      var draft = Sample.draft("/a", body: "hello", lane: "l")
      draft.headers = [
        APIRequest.Header(name: "X-A", value: "1: 2"), APIRequest.Header(name: "X-Empty", value: ""),
      ]
      let receipt = try await outbox.add(draft)[0]
      #expect(!receipt.isDuplicate)
      let item = try #require(try await outbox.store.item(receipt.item.id))
      #expect(item == receipt.item)
      #expect(item.state == .pending)
      #expect(item.lane == "l")
      #expect(item.subject == Sample.alice)
      #expect(item.idempotencyKey == item.id)
      #expect(item.bytes == 5 + 3 + 4 + 7 + item.url.utf8.count)
      let delivery = try #require(try await outbox.claim().deliveries.first)
      #expect(delivery.request.headers == draft.headers)
      #expect(delivery.request.body == draft.body)
      #expect(delivery.request.idempotencyKey == item.id)
    }
  }

  @Test("The same key and content is the same item; other content is a conflict; another subject's key is another")
  func idempotencyKey() async throws {
    try await withStore { outbox in
      let first = try await outbox.add(Sample.draft(body: "a", key: "k"))[0]
      let again = try await outbox.add(Sample.draft(body: "a", key: "k"))[0]
      #expect(again.isDuplicate)
      #expect(again.item.id == first.item.id)
      await #expect(throws: OutboxStoreFailure.keyConflict(at: 0)) {
        try await outbox.add(Sample.draft(body: "b", key: "k"))
      }
      let other = try await outbox.add(Sample.draft(body: "b", key: "k"), subject: Sample.bob)[0]
      #expect(!other.isDuplicate)
      let delivery = try #require(try await outbox.claim().deliveries.first)
      _ = try await outbox.finish(delivery, .delivered(status: 200))
      let late = try await outbox.add(Sample.draft(body: "a", key: "k"))[0]
      #expect(late.isDuplicate)
      #expect(late.item.state == .delivered)
    }
  }

  @Test("Order and case of headers do not change the content; other values, or another order of one name's values, do")
  func headerOrder() async throws {
    func draft(_ headers: (String, String)...) -> OutboxDraft {
      var draft = Sample.draft(key: "k")
      draft.headers = headers.map { APIRequest.Header(name: $0, value: $1) }
      return draft
    }
    try await withStore { outbox in
      let fixture = outbox
      try await outbox.add(draft(("X-B", "1"), ("Accept", "a"), ("X-A", "2"), ("X-A", "3")))
      let again = try await outbox.add(draft(("x-a", "2"), ("ACCEPT", "a"), ("X-A", "3"), ("X-B", "1")))[0]
      #expect(again.isDuplicate)
      for other in [
        draft(("X-B", "1"), ("Accept", "a"), ("X-A", "3"), ("X-A", "2")),
        draft(("X-B", "a"), ("Accept", "1"), ("X-A", "2"), ("X-A", "3")), draft(("X-B", "1"), ("Accept", "a")),
      ] {
        await #expect(throws: OutboxStoreFailure.keyConflict(at: 0)) { try await fixture.add(other) }
      }
    }
  }

  @Test("Items and bytes are limited, and many are accepted together or not at all")
  func limits() async throws {
    try await withStore { outbox in
      let url = Sample.draft().url.utf8.count
      outbox.settings = .limits(items: 3, bytes: 3 * url + 10)
      try await outbox.add(Sample.draft(body: "12345"))
      let large = String(repeating: "x", count: url + 6)
      await #expect(throws: OutboxStoreFailure.full) { try await outbox.add(Sample.draft(body: large)) }
      await #expect(throws: OutboxStoreFailure.full) {
        try await outbox.add(Sample.draft(), Sample.draft(), Sample.draft())
      }
      #expect(try await outbox.store.stats(of: nil).pending == 1)
      try await outbox.add(Sample.draft(), Sample.draft())
      await #expect(throws: OutboxStoreFailure.full) { try await outbox.add(Sample.draft()) }
      let delivery = try #require(try await outbox.claim().deliveries.first)
      _ = try await outbox.finish(delivery, .delivered(status: 200))
      try await outbox.add(Sample.draft(body: "1234567890"))
      #expect(try await outbox.store.stats(of: nil).bytes == 3 * url + 10)
    }
  }

  @Test("A refusal among many leaves nothing of the others in its call, and does not affect other calls")
  func allOrNone() async throws {
    try await withStore { outbox in
      let fixture = outbox
      try await outbox.add(Sample.draft(body: "a", key: "k"))
      async let good = fixture.add(Sample.draft("/good"))
      await #expect(throws: OutboxStoreFailure.keyConflict(at: 2)) {
        try await fixture.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft(body: "b", key: "k"))
      }
      _ = try await good
      #expect(try await outbox.store.stats(of: nil).pending == 2)
    }
  }

  @Test("A newer item replaces the waiting one with its key, and none that is in flight")
  func replaceKey() async throws {
    try await withStore { outbox in
      let ids = try await outbox.add(
        Sample.draft("/0"), Sample.draft("/old", body: "long", replaceKey: "r"), Sample.draft("/2")
      ).map(\.item.id)
      let other = Sample.draft("/other", lane: "x", replaceKey: "R")
      let bytes = try await outbox.add(Sample.draft("/new", replaceKey: "r"), other)[1].item.bytes
      #expect(try await outbox.state(ids[1]) == .superseded)
      var order: [String] = []
      while let delivery = try await outbox.claim().deliveries.first(where: { $0.path != "/other" }) {
        order.append(delivery.path)
        #expect(outbox.begin(delivery))
        if delivery.path == "/new" { try await outbox.add(Sample.draft("/newer", replaceKey: "r")) }
        _ = try await outbox.finish(delivery, .delivered(status: 200))
      }
      #expect(order == ["/0", "/new", "/2", "/newer"])
      #expect(try await outbox.store.stats(of: nil).bytes == bytes)
    }
  }

  @Test("An item with notBefore waits, and blocks its lane once it is first")
  func notBefore() async throws {
    try await withStore { outbox in
      let due = outbox.now + .seconds(60)
      let item = try await outbox.add(Sample.draft("/later", notBefore: due), Sample.draft("/behind"))[0].item
      #expect(item.state == .waiting)
      #expect(item.nextAttemptAt == due)
      let first = try await outbox.claim()
      #expect(first.deliveries.isEmpty)
      #expect(first.claimed.nextDueAt == due)
      #expect(try await outbox.store.retryNow(Sample.work, limit: 10) == 0)
      outbox.now = due
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/later"])
    }
  }

  @Test("A cancelled task still has its item on disk")
  func cancelled() async throws {
    try await withStore { outbox in
      let fixture = outbox
      let item = try await withThrowingTaskGroup(of: OutboxItem.self) { group in
        group.addTask { try await fixture.add(Sample.draft())[0].item }
        group.cancelAll()
        return try #require(try await group.next())
      }
      #expect(try await outbox.state(item.id) == .pending)
    }
  }

  @Test("Many callers share a commit")
  func groupCommit() async throws {
    try await withStore { outbox in
      let fixture = outbox
      let before = outbox.store.commits
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<200 {
          group.addTask { try await fixture.add(Sample.draft("/\(index)", lane: nil)) }
        }
        try await group.waitForAll()
      }
      #expect(try await outbox.store.stats(of: nil).pending == 200)
      #expect(outbox.store.commits - before < 150)
    }
  }
}
