import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct OwnerTests {
  @Test("Items made while no user was known become the first subject's that signs in")
  func adoption() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), subject: nil)
      #expect(try await outbox.claim().deliveries.isEmpty)
      #expect(
        try await outbox.store.bind(
          Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 10
        ).isDone)
      #expect(try await outbox.claim(subject: Sample.bob).deliveries.isEmpty)
      let delivery = try #require(try await outbox.claim().deliveries.first)
      #expect(delivery.path == "/1")
      #expect(delivery.item.subject == Sample.alice)
    }
  }

  @Test("An item that joins another with its key and other content gives up the key, and needs review")
  func sameKey() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/nobody", key: "k"), subject: nil)
      let kept = try await outbox.add(Sample.draft("/alice", key: "k"))[0].item.id
      #expect(
        try await outbox.store.bind(
          Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 10
        ).isDone)
      let again = try await outbox.add(Sample.draft("/alice", key: "k"))[0]
      #expect(again.isDuplicate && again.item.id == kept)
      let deliveries = try await outbox.claim(follows: true).deliveries
      #expect(deliveries.map(\.path) == ["/alice"])
      let held = try await outbox.store.list(OutboxQuery(state: .held)).items
      #expect(held.map(\.url) == ["https://api.example.com/nobody"])
      #expect(held.first?.reason == .needsReview && held.first?.lastError?.contains(kept) == true)
      let id = try #require(held.first?.id)
      _ = try await outbox.store.change(id, .retry)
      _ = try await outbox.finish(try #require(deliveries.first), .delivered(status: 200))
      let retried = try #require(try await outbox.claim(follows: true).deliveries.first)
      #expect(retried.item.id == id && retried.request.idempotencyKey == id, "no key is sent with two contents")
    }
  }

  @Test("A hint alone assigns no items")
  func hint() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(Sample.draft(), subject: nil)[0].item.id
      #expect(
        try await outbox.store.bind(
          Sample.work, to: Sample.alice, formerly: nil, adopts: false, limit: 10
        ).isDone)
      #expect(try await outbox.claim().deliveries.isEmpty)
      #expect(try await outbox.store.item(id)?.subject == nil)
      #expect(try await outbox.state(id) == .pending)
    }
  }

  @Test("Items without a user join those of the subject in the order they were made, step by step")
  func merge() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      try await outbox.add(Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil), subject: nil)
      try await outbox.add(Sample.draft("/4"))
      #expect(
        try await !outbox.store.bind(
          Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 2
        ).isDone)
      #expect(
        try await outbox.store.bind(
          Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 2
        ).isDone)
      try outbox.expectSound()
      let paths = try await outbox.claim(follows: true).deliveries.map(\.path)
      #expect(paths.filter { $0 != "/u" } == ["/1", "/2", "/3", "/4"])
      #expect(paths.contains("/u"))
    }
  }

  @Test("Another user's items are held until that user is back, and their waits are kept")
  func otherUser() async throws {
    try await withStore { outbox in
      let store = outbox.store
      _ = try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 10)
      let id = try await outbox.add(Sample.draft("/alice"))[0].item.id
      #expect(
        try await store.bind(Sample.work, to: Sample.bob, formerly: nil, adopts: true, limit: 10)
          .holdsOthers)
      #expect(
        try await !store.bind(Sample.work, to: Sample.bob, formerly: nil, adopts: true, limit: 10)
          .holdsOthers)
      try await outbox.add(Sample.draft("/bob"), subject: Sample.bob)
      let item = try #require(try await store.item(id))
      #expect(item.state == .held)
      #expect(item.reason == .otherUser)
      #expect(try await store.list(OutboxQuery(state: .held)).items.map(\.id) == [id])
      #expect(try await store.list(OutboxQuery(state: .pending)).items.count == 1)
      let stats = try await store.stats(of: Sample.work)
      #expect((stats.held, stats.pending) == (1, 1))
      #expect(try await outbox.claim(subject: Sample.bob).deliveries.map(\.path) == ["/bob"])
      await #expect(throws: OutboxStoreFailure.invalidState(.held, .otherUser)) {
        try await store.change(id, .retry)
      }
      _ = try await store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 10)
      #expect(try await outbox.state(id) == .pending)
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/alice"])
    }
  }

  @Test("The same subject name with another issuer is another user")
  func issuer() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft())
      let namesake = Subject(issuer: "https://elsewhere.example.com", id: Sample.alice.id)
      #expect(try await outbox.claim(subject: namesake).deliveries.isEmpty)
    }
  }

  @Test("Items made under an assumed issuer become the same user's once the provider has named the real one")
  func formerName() async throws {
    try await withStore { outbox in
      let assumed = Subject(issuer: "https://tokens.example.com", id: Sample.alice.id, isIssuerAssumed: true)
      let early = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), subject: assumed)
      let sent = try await outbox.claim(subject: assumed).deliveries
      #expect(sent.map(\.path) == ["/1"])
      let store = outbox.store
      #expect(
        try await store.bind(Sample.work, to: Sample.alice, formerly: assumed, adopts: false, limit: 10)
          .isDone)
      #expect(try await outbox.state(early[1].item.id) == .pending)
      // Under both names, as after a restart that knew one and then the other.
      try await outbox.add(Sample.draft("/3"), subject: assumed)
      #expect(
        try await store.bind(Sample.work, to: Sample.alice, formerly: assumed, adopts: false, limit: 10)
          .isDone)
      _ = try await outbox.finish(sent[0], .delivered(status: 200))
      let second = try await outbox.claim().deliveries
      _ = try await outbox.finish(second[0], .delivered(status: 200))
      let third = try await outbox.claim().deliveries
      #expect(second.map(\.path) == ["/2"] && third.map(\.path) == ["/3"])
      #expect(try await store.stats(of: Sample.work).held == 0)
    }
  }

  @Test("Discarding cancels one subject's undelivered items, in steps")
  func purge() async throws {
    try await withStore { outbox in
      for index in 0..<5 { try await outbox.add(Sample.draft("/\(index)")) }
      let bobs = try await outbox.add(Sample.draft("/bob"), subject: Sample.bob)[0].item.id
      let store = outbox.store
      #expect(try await store.purge(Sample.work, of: Sample.alice, limit: 3) == 3)
      #expect(try await store.purge(Sample.work, of: Sample.alice, limit: 3) == 2)
      #expect(try await outbox.claim().deliveries.isEmpty)
      #expect(try await outbox.state(bobs) == .pending)
      #expect(try await store.list(OutboxQuery(state: .cancelled)).items.count == 5)
    }
  }
}
