import HearthCore
import HearthRuntime
import TestSupport
import Testing

extension SessionServiceTests {
  @Test("answers the report of a rejected token only once the rejection is remembered across restarts")
  func rejectionRemembered() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now() - .seconds(300), isRenewable: false)))
    try await running {
      _ = await service.call(.awaitReading)
      let token = Token.sample(1).fingerprint
      let kept = try await service.call(.reportUnauthorized(APIRejection(token))).get()
      #expect(kept == nil)
      #expect(store.memory.rejected == token)
    }
  }
}
