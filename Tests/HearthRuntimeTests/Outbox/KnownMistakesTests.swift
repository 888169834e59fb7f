import TestSupport
import Testing

@testable import HearthCore
@testable import HearthRuntime

/// What outboxes get wrong elsewhere.
@Suite(.timeLimit(.minutes(2))) struct KnownMistakesTests {
  @Test("Known mistake: an error in one item aborts the batch")
  func errorAbortsBatch() async throws {
    try await withService { request, _ in
      request.url.target == "/3"
        ? .success(APIResponse(status: 400))
        : request.url.target == "/5"
          ? .failure(.unanswered(message: "reset"))
          : .success(APIResponse(status: 200))
    } _: { outbox in
      var ids: [String] = []
      for index in 0..<10 { ids += try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      await outbox.signIn()
      for index in 0..<10 where index != 3 && index != 5 { await outbox.delivered(ids[index]) }
      await outbox.dead(ids[3])
      await outbox.retrying(ids[5])
    }
  }

  @Test("Known mistake: the head is blocked for ever")
  func headBlockedForEver() async throws {
    var settings = OutboxSettings()
    settings.maxAttempts = 3
    try await withService(
      { request, _ in
        .success(APIResponse(status: request.url.target == "/bad" ? 503 : 200))
      }, settings: settings
    ) { outbox in
      let ids = try await outbox.add(Sample.draft("/bad"), Sample.draft("/good"))
      await outbox.signIn()
      for attempt in 1...2 {
        let item = try #require(await outbox.retrying(ids[0], attempts: attempt))
        let due = try #require(item.nextAttemptAt)
        await outbox.idle(until: due)
        outbox.clock.advance(by: due - outbox.clock.now())
      }
      let dead = try #require(await outbox.dead(ids[0]))
      #expect(dead.reason == .attemptsExhausted)
      #expect(dead.attempts == 3)
      await outbox.delivered(ids[1])
      #expect(outbox.paths() == ["/bad", "/bad", "/bad", "/good"])
    }
  }

  @Test("Known mistake: what was given up is retried for ever")
  func givenUpIsRetried() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 422)) }) { outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn()
      await outbox.dead(id)
      outbox.clock.advance(by: .seconds(7 * 3600))
      await outbox.service.networkReturned()
      _ = try await outbox.service.flush(nil, timeout: .seconds(30))
      #expect(outbox.api.log.count == 1)
      #expect(try await outbox.service.get(id).state == .dead)
    }
  }

  @Test("Known mistake: what is not known is silently completed", arguments: [100, 199, 600, 999, 0, -1])
  func unknownIsCompleted(_ status: Int) async throws {
    try await withService({ _, _ in .success(APIResponse(status: status)) }) { outbox in
      let id = try await outbox.add(Sample.draft(method: "FROB"))[0]
      await outbox.signIn()
      await outbox.retrying(id)
      #expect(outbox.api.log.map(\.request.method) == ["FROB"])
    }
  }

  @Test("Known mistake: 404 on an update is taken as done", arguments: ["PUT", "PATCH", "DELETE"])
  func notFoundIsDone(_ method: String) async throws {
    try await withService({ _, _ in .success(APIResponse(status: 404, body: Array("gone".utf8))) }) { outbox in
      let id = try await outbox.add(Sample.draft(method: method))[0]
      await outbox.signIn()
      let item = try #require(await outbox.dead(id))
      #expect(item.reason == .rejected)
      #expect(item.lastStatus == 404)
      #expect(item.lastError == "404: gone")
    }
  }

  @Test("Known mistake: another user's items are sent under this token")
  func anotherUsersItems() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("locked", knownSubject: Sample.alice)
      let alices = try await outbox.add(Sample.draft("/alice"))[0]
      await outbox.block("signedOut", knownSubject: nil)
      await outbox.signIn(Sample.bob)
      let bobs = try await outbox.add(Sample.draft("/bob"))[0]
      await outbox.delivered(bobs)
      _ = try await outbox.service.flush(nil, timeout: .seconds(5))
      #expect(outbox.paths() == ["/bob"])
      #expect(try await outbox.service.get(alices).reason == .otherUser)
      await outbox.block("signedOut", knownSubject: nil)
      await outbox.signIn(Sample.alice)
      await outbox.delivered(alices)
      #expect(outbox.paths() == ["/bob", "/alice"])
    }
  }

  @Test("Known mistake: rows in flight are never recovered")
  func inFlightIsLost() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    var ids: [String] = []
    var keys: [String?] = []
    try await withService(in: folder) { outbox in
      await outbox.signIn()
      ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      keys.append(await outbox.api.nextCall().request.idempotencyKey)
    }
    try await withService(answers200, in: folder) { outbox in
      await outbox.signIn()
      await outbox.delivered(ids[0])
      await outbox.delivered(ids[1])
      keys += outbox.api.log.map(\.request.idempotencyKey)
      #expect(keys == [ids[0], ids[0], ids[1]])
    }
  }

  @Test("Known mistake: a retry sleeps inline, and holds a worker and everything behind it")
  func retrySleepsInline() async throws {
    var settings = OutboxSettings()
    settings.concurrency = 2
    try await withService(
      { request, _ in
        .success(APIResponse(status: request.url.target.hasPrefix("/slow") ? 503 : 200, retryAfter: .seconds(3600)))
      }, settings: settings
    ) { outbox in
      var waiting: [String] = []
      for index in 0..<20 { waiting += try await outbox.add(Sample.draft("/slow\(index)", lane: "slow\(index)")) }
      await outbox.signIn()
      for id in waiting { await outbox.retrying(id) }
      let quick = try await outbox.add(Sample.draft("/quick", lane: "quick"))[0]
      await outbox.delivered(quick)
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      #expect(await outbox.service.machine.senders.isEmpty)
      #expect(try await outbox.stats().waiting == 20)
    }
  }

  @Test("Known mistake: no idempotency key, or a new one with each attempt")
  func noIdempotencyKey() async throws {
    try await withService { outbox in
      let ids = try await outbox.add(Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "b", key: "mine"))
      await outbox.signIn()
      for _ in 0..<2 { await outbox.api.nextCall().fail(.unanswered(message: "reset")) }
      for id in ids { await outbox.retrying(id) }
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.clock.advance(by: .milliseconds(500))
      for _ in 0..<2 { await outbox.api.nextCall().answer(200) }
      for id in ids { await outbox.delivered(id) }
      let keys = outbox.api.log.map { [$0.request.url.target, $0.request.idempotencyKey ?? "none"] }
      #expect(Set(keys) == [["/1", ids[0]], ["/2", "mine"]])
      #expect(keys.count == 4)
    }
  }

  @Test("Known mistake: a lane is poisoned for ever by one bad item", arguments: [400, 307, 501])
  func poisonedLane(_ status: Int) async throws {
    try await withService({ request, _ in
      .success(APIResponse(status: request.url.target == "/poison" ? status : 200))
    }) { outbox in
      let ids = try await outbox.add(Sample.draft("/poison"), Sample.draft("/1"), Sample.draft("/2"))
      await outbox.signIn()
      await outbox.dead(ids[0])
      await outbox.delivered(ids[2])
      #expect(outbox.paths() == ["/poison", "/1", "/2"])
    }
  }

  @Test("Known mistake: `database is locked`, or a full disk, loses what was delivered")
  func storeTrouble() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let ids = try await outbox.add(Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "b"))
      let calls = [await outbox.api.nextCall(), await outbox.api.nextCall()]
      outbox.store.setFailing(true)
      calls.forEach { $0.answer(200) }
      await #expect(throws: Failure.unavailable("The disk is full.", account: Sample.work)) {
        try await outbox.add(Sample.draft())
      }
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.store.setFailing(false)
      outbox.clock.advance(by: .milliseconds(500))
      for id in ids { await outbox.delivered(id) }
      #expect(outbox.api.log.count == 2)
      let next = try await outbox.add(Sample.draft("/3"))[0]
      await outbox.api.nextCall().answer(200)
      await outbox.delivered(next)
    }
  }
}
