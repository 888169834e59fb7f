import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct OutboxCallsTests {
  @Test("What is asked for wrongly is refused with a reason of its own")
  func refusals() async throws {
    try await withService { outbox in
      let service = outbox.service
      let stranger = try #require(AccountName("stranger"))
      await #expect(throws: Failure.unknownAccount(stranger)) {
        try await service.enqueue(Sample.draft(account: stranger))
      }
      await #expect(throws: Failure.originNotAllowed(Sample.secondOrigin, Sample.other)) {
        try await service.enqueue(Sample.draft(account: Sample.other, origin: "https://second.example.com"))
      }
      await #expect(throws: Failure(.invalidParams, "method must be an HTTP method")) {
        try await service.enqueue(Sample.draft(method: "a b"))
      }
      let unknown = Failure(.unknownItem, "There is no item \"none\" in the outbox.")
      await #expect(throws: unknown) { try await service.get("none") }
      await #expect(throws: unknown) { try await service.cancel("none") }
      await #expect(throws: Failure.unknownAccount(stranger)) { try await service.pause(stranger) }
      await #expect(throws: Failure.unknownAccount(stranger)) { try await service.getStats(stranger) }
      await #expect(throws: Failure.self) { try await service.list(OutboxQuery(cursor: "x")) }
      _ = try await service.enqueue(Sample.draft(body: "a", key: "k"))
      await #expect(throws: Failure.keyConflict) { try await service.enqueue(Sample.draft(body: "b", key: "k")) }
      #expect(try await service.enqueue(Sample.draft(body: "a", key: "k")).isDuplicate)
      await #expect(throws: Failure.originNotAllowed(Sample.secondOrigin, Sample.other).of(item: 1)) {
        try await service.enqueueMany([
          Sample.draft(), Sample.draft(account: Sample.other, origin: "https://second.example.com"),
        ])
      }
      await #expect(throws: Failure.keyConflict.of(item: 1)) {
        try await service.enqueueMany([Sample.draft(), Sample.draft(body: "b", key: "k")])
      }
    }
  }

  @Test("A full outbox says so, and takes items again when there is room")
  func full() async throws {
    var settings = OutboxSettings()
    settings.maxItems = 2
    try await withService(answers200, settings: settings) { outbox in
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      await #expect(
        throws: Failure(
          .outboxFull,
          "The outbox is full, so nothing was "
            + "accepted.", account: Sample.work)
      ) {
        try await outbox.add(Sample.draft("/3"))
      }
      await outbox.signIn()
      await outbox.delivered(ids[1])
      try await outbox.add(Sample.draft("/3"))
    }
  }

  @Test("An item is taken in every session state, and published once it is there")
  func everyState() async throws {
    try await withService { outbox in
      for reason in ["hydrating", "locked", "signedOut", "reauthRequired"] {
        await outbox.block(reason, knownSubject: reason == "signedOut" ? nil : Sample.alice)
        let receipt = try await outbox.service.enqueue(Sample.draft())
        #expect(receipt.item.state == .pending)
        await outbox.published.first { $0 == .enqueued(receipt.item) }
      }
    }
  }

  @Test("Flush tries waiting items now and returns when nothing is left that could be sent")
  func flush() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 503, retryAfter: .seconds(3600))) }) { outbox in
      await outbox.signIn()
      let ids = try await outbox.add(Sample.draft("/1", lane: "a"), Sample.draft("/2", lane: "b"))
      for id in ids { await outbox.retrying(id) }
      outbox.api.setRule { request, _ in
        .success(APIResponse(status: request.url.target == "/1" ? 200 : 503, retryAfter: .seconds(3600)))
      }
      let stats = try await outbox.service.flush(nil, timeout: .seconds(30))
      #expect((stats.delivered, stats.waiting, stats.pending, stats.inFlight) == (1, 1, 0, 0))
      #expect(outbox.api.log.count == 4)
    }
  }

  @Test("Flush waits for a session that is still being read")
  func flushAtStart() async throws {
    try await withService(answers200) { outbox in
      try await outbox.add(Sample.draft("/1"))
      async let stats = outbox.service.flush(nil, timeout: .seconds(5))
      await outbox.idle(until: outbox.clock.now() + .seconds(5))
      await outbox.block("locked", account: Sample.other)
      await outbox.signIn()
      #expect(try await stats.delivered == 1)
    }
  }

  @Test("What happened at once is published at once, with the totals after it")
  func publishedAtOnce() async throws {
    try await withService { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
      #expect(outbox.counts.all.filter { $0.pending > 0 }.map(\.pending) == [3])
      #expect(outbox.published.all.count { if case .enqueued = $0 { true } else { false } } == 3)
    }
  }

  @Test("What happened first is published first, with the counts of that time, however late the store's answer comes")
  func publishedInOrder() async throws {
    try await withService { outbox in
      outbox.store.once(.afterEnqueue) { _ = try? await outbox.add(Sample.draft("/2"), Sample.draft("/3")) }
      try await outbox.add(Sample.draft("/1"))
      let paths = outbox.published.all.compactMap { if case .enqueued(let item) = $0 { item.url } else { nil } }
      #expect(paths.map { $0.suffix(2) } == ["/1", "/2", "/3"])
      #expect(outbox.counts.all.map(\.pending).filter { $0 > 0 } == [1, 3])
    }
  }

  @Test("How many items are in flight is published while their requests are under way")
  func inFlightIsTold() async throws {
    try await withService { outbox in
      await outbox.signIn()
      try await outbox.add(Sample.draft())
      let call = await outbox.api.nextCall()
      await outbox.counts.first { $0.inFlight == 1 && $0.pending == 0 }
      call.answer(200)
      await outbox.counts.first { $0.inFlight == 0 && $0.delivered == 1 }
    }
  }

  @Test("That another request has left is published a tenth of a second later, also where the clock was set back")
  func inFlightIsToldSoon() async throws {
    try await withService { outbox in
      await outbox.signIn()
      for sent in 1...3 {
        try await outbox.add(Sample.draft("/\(sent)", lane: "\(sent)"))
        _ = await outbox.api.nextCall()
        if sent == 3 {
          outbox.clock.step(by: .seconds(-3600), isTold: false)
          await outbox.service.clockChanged()
        }
        if sent > 1 {
          await outbox.idle(until: outbox.clock.now() + .milliseconds(100))
          outbox.clock.advance(by: .milliseconds(100))
        }
        await outbox.counts.first { $0.inFlight == sent && $0.pending == 0 }
      }
    }
  }

  @Test("How many items there are is published whenever it changes, also where no event says so")
  func statsAreTold() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    try await withService(in: folder) { outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.counts.first { $0.pending == 1 }
      _ = try await outbox.service.cancel(id)
      await outbox.counts.first { $0.pending == 0 && $0.bytes == 0 }
      try await outbox.add(Sample.draft("/2"))
    }
    try await withService(in: folder) { outbox in
      await outbox.counts.first { $0.pending == 1 }
    }
  }

  @Test("Flush returns when its time is up, with what is still on its way")
  func flushTimeout() async throws {
    try await withService { outbox in
      await outbox.signIn()
      try await outbox.add(Sample.draft("/1"))
      let call = await outbox.api.nextCall()
      async let stats = outbox.service.flush(Sample.work, timeout: .seconds(5))
      await outbox.idle(until: outbox.clock.now() + .seconds(5))
      outbox.clock.advance(by: .seconds(5))
      #expect(try await stats.inFlight == 1)
      call.answer(200)
    }
  }

  @Test("What is on its way cannot be cancelled; what waits behind it can")
  func cancel() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
      let call = await outbox.api.nextCall()
      await #expect(throws: Failure.invalidState(.inFlight)) {
        try await outbox.service.cancel(ids[0])
      }
      #expect(try await outbox.service.cancel(ids[1]) == 1)
      #expect(try await outbox.stats().pending == 1)
      call.answer(200)
      let next = await outbox.api.nextCall()
      #expect(next.request.url.target == "/3")
      next.answer(200)
      await outbox.delivered(ids[2])
    }
  }

  /// Three items of a lane: the first is on its way, the others were taken with it.
  private func takenAhead(_ outbox: ServiceFixture) async throws -> (ids: [String], first: ScriptedAPIEndpoint.Call) {
    await outbox.signIn()
    let quick = try await outbox.service.enqueueMany((0..<40).map { Sample.draft("/quick\($0)") })
    await outbox.delivered(quick[39].item.id)
    outbox.api.setRule { _, _ in nil }
    let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
    let first = await outbox.api.nextCall()
    let stats = try await outbox.store.stats(of: nil)
    #expect([stats.inFlight, stats.pending] == [1, 2])
    return (ids, first)
  }

  @Test("A retry that is refused leaves an item that was taken ahead in its place")
  func refusedRetry() async throws {
    try await withService(answers200) { outbox in
      let (ids, first) = try await takenAhead(outbox)
      await #expect(throws: Failure.invalidState(.pending)) {
        try await outbox.service.retry(ids[1])
      }
      first.answer(200)
      for path in ["/2", "/3"] {
        let call = await outbox.api.nextCall()
        #expect(call.request.url.target == path)
        call.answer(200)
      }
    }
  }

  @Test("A cancel that fails leaves an item that was taken ahead in its place, and it is sent")
  func failedCancel() async throws {
    try await withService(answers200) { outbox in
      let (ids, first) = try await takenAhead(outbox)
      outbox.store.setFailing(true)
      await #expect(throws: Failure(.storageUnavailable, "The disk is full.")) {
        try await outbox.service.cancel(ids[1])
      }
      outbox.store.setFailing(false)
      first.answer(200)
      for path in ["/2", "/3"] {
        let call = await outbox.api.nextCall()
        #expect(call.request.url.target == path)
        call.answer(200)
      }
    }
  }

  @Test("Of what was taken ahead one is cancelled, and the rest goes on in order")
  func cancelledAhead() async throws {
    try await withService(answers200) { outbox in
      let (ids, first) = try await takenAhead(outbox)
      #expect(try await outbox.service.cancel(ids[1]) == 1)
      first.answer(200)
      let next = await outbox.api.nextCall()
      #expect(next.request.url.target == "/3")
      next.answer(200)
      await outbox.delivered(ids[2])
    }
  }

  @Test("Dead items are retried one by one or all together")
  func retry() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 400)) }) { outbox in
      await outbox.signIn()
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"))
      for id in ids { await outbox.dead(id) }
      outbox.api.setRule(answers200)
      #expect(try await outbox.service.retry(ids[2]) == 1)
      await outbox.delivered(ids[2])
      #expect(try await outbox.service.retryAll(Sample.work, in: .dead) == 2)
      for id in ids { await outbox.delivered(id) }
      await #expect(throws: Failure.invalidState(.delivered)) {
        try await outbox.service.retry(ids[0])
      }
    }
  }

  @Test("Discarding at sign-out cancels all of this user's items, what is under way included, and nobody else's")
  func discard() async throws {
    try await withService { outbox in
      await outbox.block("locked", knownSubject: Sample.bob)
      let bobs = try await outbox.add(Sample.draft("/bob"))[0]
      await outbox.signIn(Sample.alice)
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      let call = await outbox.api.nextCall()
      let subjects = await outbox.service.subjects(of: Sample.work)
      #expect(try await outbox.service.purge(Sample.work, of: subjects) == 2)
      let late = try await outbox.add(Sample.draft("/late"))
      await outbox.block("signedOut", knownSubject: nil)
      #expect(try await outbox.service.purge(Sample.work, of: subjects) == 1, "until then they could be enqueued")
      // What comes of the request under way changes nothing any more.
      call.answer(200)
      for id in ids + late { #expect(try await outbox.service.get(id).state == .cancelled) }
      #expect(try await outbox.service.get(bobs).state == .held)
    }
  }

  @Test(
    "Discarding once the user has signed out takes what they have left, after a restart too",
    arguments: [Sample.alice, .unnamed], [false, true])
  func discardLater(_ user: Subject, _ isRestarted: Bool) async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    func discard(_ outbox: ServiceFixture) async throws {
      let subjects = await outbox.service.subjects(of: Sample.work)
      #expect(try await outbox.service.purge(Sample.work, of: subjects) == 1)
    }
    try await withService({ _, _ in .success(APIResponse(status: 503)) }, in: folder) { outbox in
      await outbox.signIn(user)
      await outbox.retrying(try await outbox.add(Sample.draft("/1"))[0])
      await outbox.block("signedOut", knownSubject: nil)
      await outbox.service.left(Sample.work)
      if !isRestarted { try await discard(outbox) }
    }
    if !isRestarted { return }
    try await withService(in: folder) { outbox in
      await outbox.block("signedOut", knownSubject: nil)
      try await discard(outbox)
    }
  }

  @Test("When another user signs in, the items that wait for the one before are published as held")
  func publishedHeld() async throws {
    try await withService { outbox in
      await outbox.block("locked", knownSubject: Sample.alice)
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn(Sample.bob)
      let held = await outbox.published.first { if case .held = $0 { true } else { false } }
      guard case .held(let item) = held else { return }
      #expect(item.id == id)
      #expect(item.reason == .otherUser)
    }
  }

  @Test("What an account has that is removed from the configuration is shown as held, and goes on once it is back")
  func removedAccount() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("locked")
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.service.reload([:])
      while try await outbox.service.get(id).state == .pending { await Task.yield() }
      #expect(try await outbox.service.get(id).reason == .originNotConfigured)
      let stats = try await outbox.service.getStats(nil)
      #expect(stats.pending == 0 && stats.held == 1)
      await #expect(throws: Failure.invalidState(.held, .originNotConfigured)) {
        try await outbox.service.retry(id)
      }
      await outbox.service.reload([Sample.work: [Sample.origin]])
      await outbox.signIn()
      await outbox.delivered(id)
    }
  }

  @Test("A reload that takes an origin away holds what is for it, and one that puts it back has it sent, in its order")
  func reload() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("locked")
      let id = try await outbox.add(Sample.draft(origin: "https://second.example.com"))[0]
      await outbox.service.reload([Sample.work: [Sample.origin]])
      await outbox.signIn()
      let behind = try await outbox.add(Sample.draft("/behind"))[0]
      await outbox.published.first {
        if case .held(let item) = $0 { item.reason == .originNotConfigured } else { false }
      }
      #expect(try await outbox.service.flush(Sample.work, timeout: .seconds(30)).held == 1)
      #expect(outbox.api.log.isEmpty)
      await #expect(throws: Failure.unknownAccount(Sample.other)) {
        try await outbox.service.enqueue(Sample.draft(account: Sample.other))
      }
      await outbox.service.reload([Sample.work: [Sample.origin, Sample.secondOrigin]])
      await outbox.delivered(id)
      await outbox.delivered(behind)
      #expect(outbox.paths() == ["/notes", "/behind"])
    }
  }
}
