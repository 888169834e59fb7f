import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("An imported grant, where the provider's reply is lost")
struct LostReplyTests {
  private let clock = ManualClock()
  private let endpoint = ScriptedTokenEndpoint()
  private let store = MemoryCredentialStore()

  private func importing(_ body: (SessionService, Credential) async throws -> Void) async throws {
    let service = SessionService(
      account: .sample, settings: SessionSettings(), store: store, endpoint: endpoint, clock: clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), publish: { _, _ in })
    try await withThrowingTaskGroup { group in
      group.addTask { await service.run() }
      try await body(service, .sample(7, issuedAt: clock.now(), lifetime: .zero))
      await service.stop()
      try await group.waitForAll()
    }
  }

  @Test("is asked for again at once with the same token, while a grace window may be open")
  func asksAgain() async throws {
    endpoint.answer(.failed(.unanswered(message: "reset")))
    endpoint.answer(.granted(.sample(8)))
    try await importing { service, imported in try await service.adopt(imported, isTried: false) }
    #expect(endpoint.requests.map(\.grant.refreshToken) == [.sample(1007), .sample(1007)])
    #expect(store.written.map(\.grant.accessToken) == [.sample(8)])
  }

  @Test("is asked for twice and no more, and whoever imports it gets the error")
  func givesUp() async throws {
    for _ in 0..<2 { endpoint.answer(.failed(.unanswered(message: "reset"))) }
    try await importing { service, imported in
      await #expect(throws: Failure(.refreshUnavailable, "reset", account: .sample)) {
        try await service.adopt(imported, isTried: false)
      }
    }
    #expect(endpoint.requests.count == 2)
    #expect(store.written.isEmpty)
  }

  @Test("is not asked for again where no connection could be made: nothing was sent")
  func notSent() async throws {
    endpoint.answer(.failed(.unreachable(message: "no route")))
    try await importing { service, imported in
      await #expect(throws: Failure(.refreshUnavailable, "no route", account: .sample)) {
        try await service.adopt(imported, isTried: false)
      }
    }
    #expect(endpoint.requests.count == 1)
  }
}
