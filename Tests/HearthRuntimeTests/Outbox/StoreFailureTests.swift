import GRDB
import Glibc
import HearthCore
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct StoreFailureTests {
  @Test("Damage that a call meets is logged once")
  func once() async throws {
    let log = LogRecorder()
    let damage = "The outbox is damaged."
    try await withService(log: log.logger) { outbox in
      await outbox.idle(until: outbox.clock.now() + .seconds(3 * 3600))
      outbox.store.setFailing(.broken(damage))
      for _ in 0..<2 {
        await #expect(throws: Failure.unavailable(damage, account: Sample.work)) {
          try await outbox.add(Sample.draft())
        }
      }
      #expect(log.records.filter { $0.level >= .error }.map(\.message) == [damage])
      outbox.store.setFailing(nil)
    }
  }

  @Test("While it cannot be written down that a request leaves nothing is sent, and it is tried twice a second")
  func unwritable() async throws {
    let log = LogRecorder()
    try await withService(answers200, log: log.logger) { outbox in
      outbox.store.setBeginFailing(.unavailable("The disk fails."))
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      for attempt in 1...3 {
        await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
        #expect(outbox.store.beginCount == attempt)
        #expect(outbox.paths() == [])
        let stats = try await outbox.service.getStats(.sample)
        #expect(
          stats.trouble == "The disk fails. Hearth sends nothing until it can write to the "
            + "outbox." && !stats.isPaused)
        if attempt == 3 { outbox.store.setBeginFailing(nil) }
        outbox.clock.advance(by: .milliseconds(500))
      }
      await outbox.delivered(id)
      #expect(outbox.paths().count == 1)
      #expect(try await outbox.service.getStats(nil).trouble == nil)
      #expect(log.records.filter { $0.level >= .error }.map(\.message) == ["The disk fails."])
    }
  }

  @Test("A failure in sending is over when there is nothing to send any more", .timeLimit(.minutes(1)))
  func nothingToSend() async throws {
    try await withService(answers200) { outbox in
      outbox.store.setBeginFailing(.unavailable("The disk fails."))
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      #expect(
        try await outbox.service.getStats(nil).trouble == "The disk fails. Hearth sends nothing until it can write to "
          + "the outbox.")
      _ = try await outbox.service.cancel(id)
      outbox.clock.advance(by: .milliseconds(500))
      while try await outbox.service.getStats(nil).trouble != nil { await Task.yield() }
    }
  }

  /// Damages an item as another program would, has a call meet it, and returns once the outbox is recovered. `meanwhile`
  /// comes before the service hears of that.
  private func damage(
    _ outbox: ServiceFixture, meanwhile: @escaping @Sendable () async -> Void = {}
  ) async throws {
    var configuration = Configuration()
    // The outbox may be writing.
    configuration.busyMode = .timeout(30)
    try await DatabaseQueue(path: outbox.folder.file("outbox.sqlite"), configuration: configuration).write { db in
      try db.execute(sql: "UPDATE items SET url = x'ff'")
    }
    let (recovered, signal) = AsyncStream<Void>.makeStream()
    outbox.store.once(.afterRecover) {
      await meanwhile()
      signal.yield()
    }
    await #expect(throws: Failure.self) { try await outbox.service.list(OutboxQuery()) }
    for await _ in recovered { break }
  }

  @Test("An outbox that is damaged while it runs is set aside; pauses last, and what is added then is delivered")
  func damaged() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("locked")
      try await outbox.service.pause(Sample.other)
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      try await damage(outbox)
      #expect(outbox.folder.names.contains { $0.hasPrefix("outbox.sqlite.broken-") })
      let stats = try await outbox.service.getStats(nil)
      #expect(stats.pending == 0)
      #expect(try await outbox.service.getStats(Sample.other).pausedReason == "user")
      #expect(outbox.counts.all.last?.pending == 0)
      let id = try await outbox.add(Sample.draft("/3"))[0]
      await outbox.signIn()
      await outbox.delivered(id)
      #expect(outbox.paths() == ["/3"])
      #expect(try await outbox.store.configure([]) == [Sample.other])
    }
  }

  @Test("A pause that ends as soon as a new outbox is there has ended")
  func resumedAtOnce() async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      try await outbox.service.pause(Sample.work)
      try await outbox.add(Sample.draft("/1"))
      let service = outbox.service
      try await damage(outbox) { try? await service.resume(Sample.work) }
      await outbox.delivered(try await outbox.add(Sample.draft("/2"))[0])
      #expect(try await outbox.store.configure([]).isEmpty)
    }
  }

  @Test("An outbox whose file was removed while it runs is begun anew, and whoever asks for its counts is told")
  func removed() async throws {
    try await withService(answers200) { outbox in
      try await outbox.service.pause(Sample.other)
      await outbox.signIn()
      try await outbox.delivered(outbox.add(Sample.draft("/0"))[0])
      await outbox.block("locked")
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      let path = outbox.folder.file("outbox.sqlite")
      let isRecovered = Mutex(false)
      outbox.store.once(.afterRecover) { isRecovered.withLock { $0 = true } }
      unlink(path)
      let told = "The outbox \(path) was removed or replaced while it was open"
      await #expect(throws: Failure(.storageUnavailable, told + ".")) { try await outbox.stats() }
      // Where the service was at work and has found it out, too, it waits before it tries again.
      while !isRecovered.withLock(\.self) {
        outbox.clock.advance(by: .milliseconds(500))
        await Task.yield()
      }
      let lost = told + ", with 2 undelivered items. Hearth continues with the file that is now at that path."
      await outbox.signIn()
      await outbox.delivered(try await outbox.add(Sample.draft("/3"))[0])
      #expect(outbox.paths() == ["/0", "/3"])
      let stats = try await outbox.stats()
      #expect((stats.pending, stats.delivered, stats.trouble) == (0, 1, lost))
      #expect(outbox.counts.all.last?.trouble == lost)
      #expect(try await outbox.service.getStats(Sample.other).pausedReason == "user")
    }
  }

  @Test("A request under way while the outbox is set aside changes nothing of the new one")
  func underWay() async throws {
    try await withService({ request, _ in request.url.target == "/1" ? nil : .success(APIResponse(status: 200)) }) {
      outbox in
      await outbox.signIn()
      try await outbox.add(Sample.draft("/1"), Sample.draft("/behind"))
      let call = await outbox.api.nextCall()
      try await damage(outbox)
      await outbox.delivered(try await outbox.add(Sample.draft("/new"))[0])
      call.answer(200)
      await outbox.delivered(try await outbox.add(Sample.draft("/last"))[0])
      #expect(outbox.paths() == ["/1", "/new", "/last"])
      #expect(try await outbox.stats().delivered == 2)
    }
  }
}
