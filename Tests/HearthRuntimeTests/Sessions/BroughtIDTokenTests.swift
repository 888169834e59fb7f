import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("A grant that is brought with an ID token, where that is what APIs are shown")
struct BroughtIDTokenTests {
  @Test("runs out with the ID token, and also where the provider brings no new one", arguments: [true, false])
  func expiry(isTried: Bool) async throws {
    let (clock, endpoint) = (ManualClock(), ScriptedTokenEndpoint())
    let service = SessionService(
      account: .sample, settings: SessionSettings(bearer: .idToken), store: MemoryCredentialStore(),
      endpoint: endpoint, clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
      announce: { _, _ in })
    let told = clock.now() + .seconds(100)
    endpoint.tells(expiry: told, of: .sample(5007))
    endpoint.answer(.granted(.sample(8)))
    var brought = Credential.sample(7, issuedAt: clock.now(), lifetime: isTried ? nil : .zero)
    brought.grant.idToken = .sample(5007)
    try await withThrowingTaskGroup { group in
      group.addTask { await service.run() }
      try await service.adopt(brought, isTried: isTried)
      #expect(await service.snapshot().token?.fingerprint == Token.sample(5007).fingerprint)
      #expect(await service.snapshot().token?.expiresAt == told)
      await service.stop()
      try await group.waitForAll()
    }
  }
}
