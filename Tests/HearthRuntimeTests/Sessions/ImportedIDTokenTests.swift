import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("An imported grant with an ID token, where that is what APIs are shown")
struct ImportedIDTokenTests {
  @Test("expires with the ID token, also where the provider grants no new one", arguments: [true, false])
  func expires(isTried: Bool) async throws {
    let (clock, endpoint) = (ManualClock(), ScriptedTokenEndpoint())
    let service = SessionService(
      account: .sample, settings: SessionSettings(bearer: .idToken), store: MemoryCredentialStore(),
      endpoint: endpoint, clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
      publish: { _, _ in })
    let expiry = clock.now() + .seconds(100)
    endpoint.tells(expiry: expiry, of: .sample(5007))
    endpoint.answer(.granted(.sample(8)))
    var imported = Credential.sample(7, issuedAt: clock.now(), lifetime: isTried ? nil : .zero)
    imported.grant.idToken = .sample(5007)
    try await withThrowingTaskGroup { group in
      group.addTask { await service.run() }
      try await service.adopt(imported, isTried: isTried)
      #expect(await service.snapshot().token?.fingerprint == Token.sample(5007).fingerprint)
      #expect(await service.snapshot().token?.expiresAt == expiry)
      await service.stop()
      try await group.waitForAll()
    }
  }
}
