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

  @Test("A second after it was delivered or replaced, nothing of an item's content is left in the files")
  func wiped() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    func traces() -> [String] {
      folder.names.filter { folder.bytes(of: $0).firstRange(of: Array("nobody-is-to-find-it".utf8)) != nil }
    }
    try await withService(answers200, in: folder) { outbox in
      await outbox.signIn()
      try await outbox.delivered(outbox.add(Sample.draft("/1", body: "nobody-is-to-find-it"))[0])
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      #expect(traces() != [])
      outbox.clock.advance(by: .seconds(1))
      await outbox.idle(until: outbox.clock.now() + .seconds(3 * 3600))
      #expect(traces() == [])
      await outbox.block("locked")
      for body in ["nobody-is-to-find-it", "the newer one"] {
        try await outbox.add(Sample.draft("/2", body: body, replaceKey: "r"))
      }
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      outbox.clock.advance(by: .seconds(1))
      await outbox.idle(until: outbox.clock.now() + .seconds(3 * 3600))
      #expect(traces() == [])
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

  @Test("Nothing expires by the time that a server told before the clock was set ahead", arguments: ["POST", "HEAD"])
  func timeToldBefore(_ method: String) async throws {
    try await withService({ request, _ in
      request.url.target == "/first" || request.method == "HEAD" ? nil : .success(APIResponse(status: 200))
    }) { outbox in
      await outbox.signIn()
      let now = outbox.clock.now()
      let kept = Sample.draft("/kept", lane: "other", expiresAt: now + .seconds(3600))
      if method == "HEAD" {
        outbox.clock.step(by: .seconds(3600))
        try await outbox.add(kept)
      } else {
        try await outbox.add(Sample.draft("/first"))
      }
      let call = await outbox.api.nextCall()
      #expect(call.request.method == method)
      outbox.clock.step(by: .seconds(7200))
      call.answer(200, skew: .zero)
      if method == "POST" {
        try await outbox.add(kept)
      } else {
        await outbox.idle(until: outbox.clock.now() + .seconds(60))
        outbox.clock.advance(by: .seconds(60))
      }
      await outbox.api.nextCall().answer(200, skew: now - outbox.clock.now())
      await outbox.published.first {
        if case .delivered(let item) = $0 { item.url.hasSuffix("/kept") } else { false }
      }
    }
  }
}
