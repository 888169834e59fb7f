import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

/// What the outbox removes by itself, though nothing is sent.
@Suite(.timeLimit(.minutes(2))) struct SweepTests {
  @Test("After a start what has expired is dead and what was delivered long ago is gone, though nobody can send")
  func start() async throws {
    var settings = OutboxSettings()
    settings.keepDelivered = .seconds(600)
    let (folder, clock) = (TemporaryFolder(), ManualClock())
    defer { folder.remove() }
    var old = ""
    try await withService(answers200, settings: settings, in: folder, clock: clock) { outbox in
      await outbox.signIn()
      try await outbox.delivered(outbox.add(Sample.draft("/done"))[0])
      await outbox.block("locked")
      old = try await outbox.add(Sample.draft("/old", expiresAt: clock.now() + .seconds(10)))[0]
    }
    clock.advance(by: .seconds(3600))
    try await withService(
      { _, _ in .success(APIResponse(status: 200, skew: .zero)) }, settings: settings, in: folder, clock: clock
    ) { outbox in
      await outbox.block("locked")
      #expect(await outbox.dead(old)?.reason == .expired)
      await outbox.idle(until: clock.now() + .seconds(75))
      let stats = try await outbox.stats()
      #expect(stats.delivered == 0)
      #expect(outbox.api.log.map(\.request.method) == ["HEAD"])
      #expect(outbox.api.log[0].fingerprint == nil)
    }
  }

  @Test("After a start with nothing to remove no server is asked for the time")
  func nothing() async throws {
    try await withService { outbox in
      await outbox.block("locked")
      try await outbox.add(Sample.draft("/later", expiresAt: outbox.clock.now() + .seconds(600)))
      await outbox.idle(until: outbox.clock.now() + .seconds(600))
      #expect(outbox.api.log.isEmpty)
    }
  }
}
