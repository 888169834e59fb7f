import GRDB
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// The content of items is sent as it was enqueued or not at all, and nothing is left of it afterwards.
@Suite struct ContentTests {
  @Test(
    "An item whose content has changed on disk is held as damaged and never sent, and its lane continues",
    arguments: [
      "UPDATE contents SET body = x'616263'", "UPDATE contents SET headers = 'X-Trace:2'",
      "UPDATE contents SET headers = ''", "UPDATE contents SET checksum = checksum + 1",
      "UPDATE contents SET checksum = NULL", "UPDATE items SET method = 'PUT' WHERE n = 1",
      "UPDATE items SET url = 'https://api.example.com/2' WHERE n = 1",
      "UPDATE items SET url = 'https://evil.example.com/1' WHERE n = 1",
      "UPDATE items SET idempotency_key = 'other' WHERE n = 1",
    ])
  func damaged(_ harm: String) async throws {
    try await withStore { outbox in
      var draft = Sample.draft("/1", body: "abd")
      draft.headers = [APIRequest.Header(name: "X-Trace", value: "1")]
      let item = try await outbox.add(draft)[0].item
      try await outbox.store.withConnection { try $0.execute(sql: harm) }
      try await outbox.add(Sample.draft("/behind"))
      let first = try await outbox.claim()
      #expect(first.deliveries.isEmpty && first.changed.map(\.reason) == [.damaged])
      #expect(try await outbox.claim().deliveries.map(\.path) == ["/behind"])
      let held = try #require(try await outbox.store.item(item.id))
      #expect(held.state == .held && held.reason == .damaged && held.nextAttemptAt == nil)
      #expect(held.lastError == "The item's content does not match its checksum, so it is not sent.")
      try await outbox.store.withConnection { try $0.execute(sql: "DELETE FROM contents WHERE item = 1") }
      #expect(try await outbox.store.change(item.id, .cancel).state == .cancelled)
    }
  }

  @Test("An item whose content has changed on disk is left out of an export, which continues after it")
  func notExported() async throws {
    try await withStore { outbox in
      let harmed = try await outbox.add(Sample.draft("/1", body: "abd"))[0].item.id
      let sound = try await outbox.add(Sample.draft("/2", body: "abd"))[0].item.id
      try await outbox.store.withConnection { try $0.execute(sql: "UPDATE contents SET body = x'00' WHERE item = 1") }
      var query = OutboxQuery(limit: 1)
      let first = try await outbox.store.export(query, bytes: 100)
      #expect(first.items.isEmpty && first.damaged == 1)
      query.cursor = first.cursor
      let second = try await outbox.store.export(query, bytes: 100)
      #expect(second.items.map(\.id) == [sound] && second.damaged == 0 && second.cursor == nil)
      #expect(try await outbox.store.change(harmed, .cancel).state == .cancelled)
    }
  }

  @Test("An imported item passes the check, and is exported again unchanged")
  func imported() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let outbox = try StoreFixture(opening: path, in: folder)
    let ends: [(OutboxItem.State, OutboxItem.Reason?)] = [
      (.pending, nil), (.dead, .rejected), (.held, .needsReview), (.pending, nil), (.dead, .expired),
    ]
    let items = ends.enumerated().map { place, end in
      ExportedItem(
        id: OutboxItem.makeID(at: Sample.start, random: (0, UInt64(place))), subject: Sample.bob,
        draft: Sample.draft("/\(place)", body: "b", lane: place == 3 ? nil : "a", key: place == 0 ? "k" : nil),
        state: end.0, reason: end.1, attempts: place, createdAt: Sample.start - .seconds(9), mayHaveLeft: place > 0,
        lastStatus: 500, lastError: "no", exportedAt: Sample.start)
    }
    let new = try items.map {
      NewOutboxItem(
        id: $0.id, draft: $0.draft, url: try $0.draft.checked(maxBody: 9), subject: $0.subject,
        kept: try $0.kept(horizon: .seconds(9), at: Sample.start))
    }
    _ = try await outbox.store.enqueue(new, within: OutboxSettings())
    #expect(try await outbox.store.export(OutboxQuery(), bytes: 1000).items == items)
    #expect(try OutboxCheck.problems(at: path) == [])
  }

  @Test("The check names the items whose content has changed")
  func check() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let outbox = try StoreFixture(opening: path, in: folder)
    let id = try await outbox.add(Sample.draft("/1", body: "abd"))[0].item.id
    try await outbox.add(Sample.draft("/2", body: "abd"))
    try await outbox.store.withConnection { try $0.execute(sql: "UPDATE contents SET body = x'00' WHERE item = 1") }
    #expect(try OutboxCheck.problems(at: path) == ["Items with damaged content: \(id)."])
  }

  @Test("An item that the index has in another user's lane is not sent for that user")
  func otherOwner() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let clock = ManualClock()
    let opened = try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: clock)
    let outbox = StoreFixture(folder: folder, store: opened.store, clock: clock)
    try await outbox.add(Sample.draft("/bob"), subject: Sample.bob)
    try await outbox.add(Sample.draft("/alice"))
    // Only the index says that Bob's item is Alice's.
    try await outbox.store.withConnection { db in
      try db.execute(sql: "PRAGMA writable_schema = ON")
      try db.execute(
        sql: "UPDATE sqlite_schema SET sql = replace(sql, 'is_head = 1', 'is_head = 7') WHERE name = 'items_ready'")
      try db.execute(sql: "PRAGMA writable_schema = RESET")
      try db.execute(sql: "UPDATE items SET owner = 1 - (owner - 2) WHERE n = 1")
      try db.execute(sql: "PRAGMA writable_schema = ON")
      try db.execute(
        sql: "UPDATE sqlite_schema SET sql = replace(sql, 'is_head = 7', 'is_head = 1') WHERE name = 'items_ready'")
      try db.execute(sql: "PRAGMA writable_schema = RESET")
    }
    await #expect(throws: OutboxStoreFailure.self) { try await outbox.claim(subject: Sample.bob) }
    #expect(outbox.store.isBroken)
  }

  private static let secret = Array("the-body-that-nobody-is-to-find-".utf8)

  /// How often the body occurs in the outbox's files.
  private func traces(_ path: String) throws -> Int {
    try ["", "-wal"].reduce(0) { count, suffix in
      guard access(path + suffix, F_OK) == 0 else { return count }
      let bytes = try #require(Files.read(path + suffix))
      var found = 0
      for start in bytes.indices where bytes[start...].starts(with: Self.secret) { found += 1 }
      return count + found
    }
  }

  @Test(
    "A cancelled, discarded or replaced item leaves no content in the files, even if an answer has repeated it",
    arguments: [1, 400], ["cancel", "discard", "replace", "replace in flight"])
  func removed(_ repeats: Int, _ how: String) async throws {
    try await withStore { outbox in
      let body = String(decoding: Array(repeating: Self.secret, count: repeats).flatMap(\.self), as: UTF8.self)
      let id = try await outbox.add(Sample.draft("/1", body: body, replaceKey: "r"))[0].item.id
      let delivery = try #require(try await outbox.claim().deliveries.first)
      let refused = DeliveryOutcome.dead(.rejected, status: 422, error: "422: " + body.prefix(4096))
      if how != "replace in flight" { try await outbox.finish(delivery, refused) }
      #expect(try traces(outbox.path) > 0)
      switch how {
      case "cancel": _ = try await outbox.store.change(id, .cancel)
      case "discard": _ = try await outbox.store.purge(Sample.work, of: Sample.alice, limit: 9)
      case "replace":
        try await outbox.add(Sample.draft("/2", replaceKey: "r"))
        _ = try await outbox.store.prune(keeping: outbox.settings, limit: 10, by: outbox.now)
      default:
        #expect(outbox.begin(delivery))
        try await outbox.add(Sample.draft("/2", replaceKey: "r"))
        try await outbox.finish(delivery, refused)
      }
      #expect(try traces(outbox.path) == 0)
    }
  }

  @Test(
    "A delivered item leaves no content in the files once the store is pruned or closed", arguments: [true, false])
  func delivered(_ prunes: Bool) async throws {
    try await withStore { outbox in
      let body = String(decoding: Array(repeating: Self.secret, count: 400).flatMap(\.self), as: UTF8.self)
      try await outbox.add(Sample.draft("/1", body: body))
      let delivery = try #require(try await outbox.claim().deliveries.first)
      try await outbox.finish(delivery, .delivered(status: 200))
      if prunes {
        _ = try await outbox.store.prune(keeping: outbox.settings, limit: 10, by: outbox.now)
      } else {
        await outbox.store.close()
      }
      #expect(try traces(outbox.path) == 0)
    }
  }

  @Test("A finish in the future, by a clock that was ahead, counts as now for the sweep that finds it")
  func finishedInFuture() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(Sample.draft("/1"))[0].item.id
      outbox.now = Sample.start + .seconds(10 * 365 * 86_400)
      _ = try await outbox.store.change(id, .cancel)
      outbox.now = Sample.start
      _ = try await outbox.store.prune(keeping: outbox.settings, limit: 10, by: outbox.now)
      #expect(try await outbox.state(id) == .cancelled)
      outbox.now = Sample.start + outbox.settings.keepDelivered + .seconds(1)
      _ = try await outbox.store.prune(keeping: outbox.settings, limit: 10, by: outbox.now)
      #expect(try await outbox.state(id) == nil)
    }
  }

  @Test("A sweep by a server that is behind makes nothing older for the next one")
  func serverBehind() async throws {
    try await withStore { outbox in
      let id = try await outbox.add(Sample.draft("/1"))[0].item.id
      _ = try await outbox.store.change(id, .cancel)
      let behind = outbox.now - outbox.settings.keepDelivered - .seconds(1)
      for time in [behind, outbox.now] {
        _ = try await outbox.store.prune(keeping: outbox.settings, limit: 10, by: time)
        #expect(try await outbox.state(id) == .cancelled)
      }
    }
  }

  @Test("A result that is unknown since a time in the future is unknown since the start")
  func unknownInFuture() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      outbox.now = Sample.start + .seconds(10 * 365 * 86_400)
      let delivery = try #require(try await outbox.claim().deliveries.first)
      #expect(outbox.begin(delivery))
      try await outbox.finish(delivery, outbox.wait(60, unknown: true, status: nil))
      outbox.now = Sample.start
      try await outbox.store.recover()
      // Its retry is also limited to the longest wait that a server may ask for.
      outbox.now = Sample.start + .seconds(24 * 3600)
      let again = try #require(try await outbox.claim().deliveries.first)
      #expect(again.progress.unknownSince == Sample.start)
    }
  }
}
