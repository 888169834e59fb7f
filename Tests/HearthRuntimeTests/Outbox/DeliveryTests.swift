import HearthCore
import HearthStorage
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct DeliveryTests {
  @Test("Up to `concurrency` go at once for an account, and another account does not wait for them")
  func concurrency() async throws {
    var settings = OutboxSettings()
    settings.concurrency = 3
    try await withService(settings: settings) { outbox in
      for index in 0..<10 { try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      await outbox.signIn()
      var calls: [ScriptedAPIEndpoint.Call] = []
      for _ in 0..<3 { calls.append(await outbox.api.nextCall()) }
      await outbox.service.sessionChanged(
        Sample.other, permission: .sendable(under: Sample.alice), knownSubject: Sample.alice, token: nil)
      let other = try await outbox.add(Sample.draft("/other", account: Sample.other))[0]
      let call = await outbox.api.nextCall()
      #expect(call.request.url.target == "/other")
      call.answer(200)
      await outbox.delivered(other)
      #expect(outbox.api.log.count == 4)
      for _ in 0..<7 {
        calls.removeFirst().answer(200)
        calls.append(await outbox.api.nextCall())
      }
      #expect(outbox.api.mostAtOnce <= 4)
      calls.forEach { $0.answer(200) }
    }
  }

  @Test("A lane of many keeps its order while it is fast and when it falters")
  func laneOrder() async throws {
    try await withService({ request, _ in
      .success(APIResponse(status: 200))
    }) { outbox in
      var ids: [String] = []
      for index in 0..<500 { ids += try await outbox.add(Sample.draft("/\(index)")) }
      await outbox.signIn()
      await outbox.delivered(try #require(ids.last))
      #expect(outbox.paths() == (0..<500).map { "/\($0)" })
      #expect(try await outbox.stats().delivered == 500)
    }
  }

  @Test("A failure in the midst of a fast lane holds what is behind it, and repeats nothing before it")
  func faltering() async throws {
    try await withService({ request, _ in
      .success(APIResponse(status: 200))
    }) { outbox in
      outbox.api.setRule { request, _ in
        request.url.target == "/100" ? nil : .success(APIResponse(status: 200))
      }
      var ids: [String] = []
      for index in 0..<200 { ids += try await outbox.add(Sample.draft("/\(index)")) }
      await outbox.signIn()
      await outbox.api.nextCall().answer(503)
      await outbox.retrying(ids[100])
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      #expect(outbox.paths() == (0...100).map { "/\($0)" })
      outbox.clock.advance(by: .milliseconds(500))
      await outbox.api.nextCall().answer(200)
      await outbox.delivered(try #require(ids.last))
      #expect(outbox.paths() == (0...100).map { "/\($0)" } + (100..<200).map { "/\($0)" })
    }
  }

  @Test("An origin that cannot be reached is probed with one request; the rest goes once it answers, uncharged")
  func probing() async throws {
    try await withService({ _, _ in .failure(.notSent(message: "refused")) }) { outbox in
      let first = try await outbox.add(Sample.draft("/first", lane: "first"))[0]
      await outbox.signIn()
      await outbox.retrying(first)
      await outbox.published.first { $0 == .paused(Sample.work, reason: "offline") || $0 != $0 || Self.isRetrying($0) }
      var ids = [first]
      for index in 0..<20 { ids += try await outbox.add(Sample.draft("/\(index)", lane: "lane\(index)")) }
      outbox.api.setRule { request, _ in
        request.url.target == "/elsewhere" ? .success(APIResponse(status: 200)) : nil
      }
      let elsewhere = try await outbox.add(
        Sample.draft("/elsewhere", lane: "x", origin: Sample.secondOrigin.description))[0]
      await outbox.service.networkReturned()
      await outbox.delivered(elsewhere)
      let probe = await outbox.api.nextCall()
      #expect(outbox.api.waiting == 1)
      probe.fail(.notSent(message: "refused"))
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      #expect(outbox.api.waiting == 0)
      outbox.api.setRule(answers200)
      outbox.clock.advance(by: .seconds(1))
      for id in ids { await outbox.delivered(id) }
      #expect(try await outbox.service.get(first).attempts == 1)
    }
  }

  private static func isRetrying(_ event: OutboxEvent) -> Bool {
    if case .retrying = event { true } else { false }
  }

  @Test("An account whose only origins cannot be reached says that it is offline, until one answers")
  func offline() async throws {
    try await withService({ _, _ in .failure(.notSent(message: "refused")) }) { outbox in
      await outbox.service.sessionChanged(
        Sample.other, permission: .sendable(under: Sample.alice), knownSubject: Sample.alice, token: nil)
      let id = try await outbox.add(Sample.draft(account: Sample.other))[0]
      await outbox.published.first { $0 == .paused(Sample.other, reason: "offline") }
      await outbox.retrying(id)
      #expect(try await outbox.service.getStats(Sample.other).pausedReason == "offline")
      outbox.api.setRule(answers200)
      await outbox.service.networkReturned()
      await outbox.delivered(id)
      await outbox.published.first { $0 == .resumed(Sample.other, reason: "offline") }
      #expect(try await !outbox.service.getStats(Sample.other).isPaused)
    }
  }

  @Test("A captive portal charges nothing", arguments: [407, 511])
  func portal(_ status: Int) async throws {
    try await withService({ _, _ in .success(APIResponse(status: status)) }) { outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn()
      let item = try #require(await outbox.retrying(id))
      #expect(item.attempts == 0)
      #expect(item.lastStatus == status)
    }
  }

  @Test("Retry-After holds a lane for as long as it says")
  func retryAfter() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.api.nextCall().answer(503, retryAfter: .seconds(120))
      let item = try #require(await outbox.retrying(id))
      #expect(item.nextAttemptAt == outbox.clock.now() + .seconds(120))
      await outbox.idle(until: outbox.clock.now() + .seconds(120))
      outbox.clock.advance(by: .seconds(120))
      await outbox.api.nextCall().answer(200)
      await outbox.delivered(id)
    }
  }

  @Test("A retry that falls due while the outbox is written is not slept over")
  func dueMeanwhile() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft("/1", lane: "a"))[0]
      await outbox.api.nextCall().answer(503)
      await outbox.retrying(id)
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.store.once(.afterExchange) { outbox.clock.advance(by: .milliseconds(500)) }
      try await outbox.add(Sample.draft("/2", lane: "b"))
      let paths = [await outbox.api.nextCall(), await outbox.api.nextCall()].map(\.request.url.target)
      #expect(Set(paths) == ["/1", "/2"])
    }
  }

  @Test("A user's pause holds through sign-in and restart; resume sends")
  func pause() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    var id = ""
    try await withService(answers200, in: folder) { outbox in
      await outbox.signIn()
      try await outbox.service.pause(nil)
      await outbox.published.first { $0 == .paused(Sample.work, reason: "user") }
      id = try await outbox.add(Sample.draft())[0]
      #expect(try await outbox.service.flush(nil, timeout: .seconds(30)).pausedReason == "user")
    }
    try await withService(answers200, in: folder) { outbox in
      await outbox.published.first { $0 == .paused(Sample.work, reason: "user") }
      await outbox.signIn()
      #expect(try await outbox.service.flush(nil, timeout: .seconds(30)).pending == 1)
      #expect(outbox.api.log.isEmpty)
      try await outbox.service.resume(Sample.work)
      await outbox.delivered(id)
    }
  }

  @Test("Of a pause and a resume at the same moment the later counts, in memory as on disk")
  func pausesAtOnce() async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      _ = try await outbox.service.flush(nil, timeout: .seconds(30))
      outbox.store.once(.afterSetPaused) { try? await outbox.service.resume(Sample.work) }
      try await outbox.service.pause(Sample.work)
      #expect(try await outbox.store.configure([]).isEmpty)
      #expect(try await outbox.service.getStats(Sample.work).pausedReason != "user")
    }
  }

  @Test("A pause that ends while the service reads who is paused has ended")
  func resumedWhileRead() async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      try await outbox.service.pause(Sample.work)
      try await outbox.add(Sample.draft())
      outbox.store.once(.afterPaused) { try? await outbox.service.resume(Sample.work) }
      await outbox.service.reload([Sample.work: [Sample.origin]])
      await outbox.published.first { $0 == .resumed(Sample.work, reason: "user") }
      #expect(try await outbox.service.flush(nil, timeout: .seconds(30)).delivered == 1)
    }
  }

  @Test(
    "Lock, sign-out and an ended session stop sending and lose nothing; it goes on by itself",
    arguments: ["locked", "signedOut", "reauthRequired"])
  func blocked(_ reason: String) async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      await outbox.block(reason, knownSubject: Sample.alice)
      await outbox.published.first { $0 == .paused(Sample.work, reason: reason) }
      let id = try await outbox.add(Sample.draft())[0]
      let stats = try await outbox.service.getStats(Sample.work)
      #expect(stats.isPaused)
      #expect(stats.pausedReason == reason)
      #expect(outbox.api.log.isEmpty)
      await outbox.signIn()
      await outbox.delivered(id)
      await outbox.published.first { $0 == .resumed(Sample.work, reason: reason) }
    }
  }

  @Test("After a lock the session is read again; that alone is no pause, and sending is told to go on")
  func resumedAfterLock() async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      await outbox.block("locked")
      await outbox.block("hydrating")
      let stats = try await outbox.service.getStats(Sample.work)
      #expect(stats.pausedReason == "hydrating")
      await outbox.signIn()
      await outbox.published.first { $0 == .resumed(Sample.work, reason: "locked") }
      #expect(
        outbox.published.all.suffix(2) == [
          .paused(Sample.work, reason: "locked"), .resumed(Sample.work, reason: "locked"),
        ])
    }
  }

  @Test("What was taken ahead and not sent is back in its place when sending stops")
  func givenBack() async throws {
    try await withService({ request, _ in
      request.url.target == "/100" ? nil : .success(APIResponse(status: 200))
    }) { outbox in
      for index in 0..<200 { try await outbox.add(Sample.draft("/\(index)")) }
      await outbox.signIn()
      let call = await outbox.api.nextCall()
      #expect(try await outbox.stats().inFlight <= 101)
      await outbox.block("locked")
      while try await outbox.store.stats(of: nil).inFlight != 1 { await Task.yield() }
      call.answer(200)
      while try await outbox.store.stats(of: nil).inFlight != 0 { await Task.yield() }
      let stats = try await outbox.stats()
      #expect((stats.delivered, stats.pending) == (101, 99))
    }
  }

  @Test("Shutdown gives up what does not land, and leaves it to be sent again")
  func shutdown() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    var ids: [String] = []
    try await withService(in: folder) { outbox in
      await outbox.signIn()
      ids = try await outbox.add(Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "b"))
      let calls = [await outbox.api.nextCall(), await outbox.api.nextCall()]
      await outbox.service.shutdown(grace: .seconds(2))
      await outbox.idle(until: outbox.clock.now() + .seconds(2))
      calls[0].answer(200)
      await #expect(throws: Failure.shuttingDown) { try await outbox.add(Sample.draft()) }
      outbox.clock.advance(by: .seconds(2))
    }
    try await withService(answers200, in: folder) { outbox in
      #expect(try await outbox.stats().delivered == 1)
      await outbox.signIn()
      _ = try await outbox.service.flush(nil, timeout: .seconds(30))
      #expect(try await outbox.stats().delivered == 2)
      #expect(outbox.api.log.count == 1)
    }
    #expect(ids.count == 2)
  }

  @Test("An expired item is dead once a server has told the time; one is asked when nothing else would")
  func expiry() async throws {
    try await withService({ request, _ in
      .success(APIResponse(status: 200, skew: .seconds(1)))
    }) { outbox in
      await outbox.block("locked")
      let ids = try await outbox.add(
        Sample.draft("/old", expiresAt: outbox.clock.now() + .seconds(10)), Sample.draft("/new"))
      outbox.clock.advance(by: .seconds(10))
      await outbox.signIn()
      #expect(await outbox.dead(ids[0])?.reason == .expired)
      await outbox.delivered(ids[1])
      #expect(outbox.api.log.map(\.request.method) == ["HEAD", "POST"])
      // The time is no secret, and is asked without one.
      #expect(outbox.api.log[0].fingerprint == nil)
    }
  }

  @Test("Where no server tells the time this clock's counts: nothing waits for ever")
  func noTimeToldAtAll() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("locked")
      let ids = try await outbox.add(
        Sample.draft("/old", expiresAt: outbox.clock.now() + .seconds(10)), Sample.draft("/new"))
      outbox.clock.advance(by: .seconds(10))
      await outbox.signIn()
      #expect(await outbox.dead(ids[0])?.reason == .expired)
      await outbox.delivered(ids[1])
    }
  }

  @Test("A clock that is ahead of the server's, or was stepped since, expires nothing, and nothing waits for it")
  func doubtfulClock() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 200, skew: .seconds(-7200))) }) { outbox in
      await outbox.signIn()
      let seen = try await outbox.add(Sample.draft("/now"))[0]
      await outbox.delivered(seen)
      let old = try await outbox.add(
        Sample.draft(
          "/old", notBefore: outbox.clock.now() + .seconds(5),
          expiresAt: outbox.clock.now() + .seconds(10)))[0]
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      outbox.clock.advance(by: .seconds(1))
      await outbox.idle(until: outbox.clock.now() + .seconds(4))
      outbox.clock.step(by: .seconds(3600))
      _ = try await outbox.service.flush(nil, timeout: .seconds(1))
      await outbox.delivered(old)
      #expect(outbox.paths().suffix(2) == ["/", "/old"])
    }
  }

  @Test("However many lanes and unordered items are slow, another lane waits for none of them")
  func slowDelayNobody() async throws {
    try await withService { outbox in
      await outbox.signIn()
      for index in 0..<20 {
        try await outbox.add(Sample.draft("/slow", lane: "\(index)"), Sample.draft("/slow", lane: nil))
      }
      for _ in 0..<(20 + OutboxSettings().concurrency) { _ = await outbox.api.nextCall() }
      let quick = try await outbox.add(Sample.draft("/quick", lane: "quick"))[0]
      let call = await outbox.api.nextCall()
      #expect(call.request.url.target == "/quick")
      call.answer(200)
      await outbox.delivered(quick)
    }
  }

  @Test("A clock that is set ahead brings no retry forward")
  func clockSetAhead() async throws {
    var settings = OutboxSettings()
    settings.concurrency = 1
    try await withService(
      { request, _ in
        .success(
          request.url.target == "/wait"
            ? APIResponse(status: 503, retryAfter: .seconds(600)) : APIResponse(status: 200))
      }, settings: settings
    ) { outbox in
      await outbox.signIn()
      let start = outbox.clock.now()
      try await outbox.retrying(outbox.add(Sample.draft("/wait"))[0])
      let other = try await outbox.add(
        Sample.draft("/other", lane: "other", notBefore: start + .seconds(700)))[0]
      await outbox.idle(until: start + .seconds(600))
      outbox.clock.step(by: .seconds(3600))
      await outbox.delivered(other)
      #expect(outbox.paths() == ["/wait", "/other"])
    }
  }

  @Test("No token ever reaches the disk, nor one that it came with")
  func noTokenOnDisk() async throws {
    try await withService({ request, _ in
      request.url.target == "/1"
        ? .success(APIResponse(status: 422, body: Array("bad: the-refresh-token".utf8)))
        : .success(APIResponse(status: 200))
    }) { outbox in
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      await outbox.signIn()
      await outbox.dead(ids[0])
      await outbox.delivered(ids[1])
      for name in outbox.folder.names {
        let text = String(decoding: outbox.folder.bytes(of: name), as: UTF8.self)
        #expect(!text.contains("the-secret-token") && !text.contains("the-refresh-token"), "\(name)")
      }
    }
  }
}
