import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthRuntime

/// What happens while a provider is asked to revoke.
extension RevocationServiceTests {
  private func beginPassword(
    _ entry: SessionDirectory.Entry, _ provider: ScriptedSignInEndpoint
  ) async throws -> SignInHandle {
    var entry = entry
    entry.signIn = provider
    let signIns = SignInService(
      sessions: sessions, redirects: ScriptedRedirects(), clock: clock,
      settled: { [revocations] in await revocations.settled(for: $0) })
    return try await signIns.begin(
      .password(name: "ada", password: Secret("secret")), of: entry, replacing: false)
  }

  @Test("a grant is on the disk before the provider is asked, and until it has answered")
  func keptWhileAsked() async throws {
    try await running { entry in
      tokens.holdRevocations()
      async let revoked = revocations.revoke([credential], of: entry)
      while tokens.revoked.isEmpty { await Task.yield() }
      #expect(store.kept.count == 1)
      tokens.finishRevocations()
      #expect(await revoked == .done && store.kept.isEmpty)
    }
  }

  @Test("a sign-in to the account asks for its grant only once the revocation under way is over")
  func signInWaits() async throws {
    let order = Order()
    let provider = ScriptedSignInEndpoint(takesPassword: true)
    provider.whenAsked { order.add("asked") }
    provider.answer(.success(.sample(8)))
    try await running { entry in
      tokens.holdRevocations()
      async let revoked = revocations.revoke([credential], of: entry)
      while tokens.revoked.isEmpty { await Task.yield() }
      async let begun = beginPassword(entry, provider)
      while await !entry.service.mayShareUser(with: credential, of: .sample) { await Task.yield() }
      for _ in 0..<1000 { await Task.yield() }
      order.add("revoked")
      tokens.finishRevocations()
      _ = try await (begun, revoked)
      #expect(order.all == ["revoked", "asked"])
      #expect(await entry.service.snapshot().state == .authenticated)
    }
  }

  @Test("a revocation that begins while the account signs in ends nothing of that, and is for later")
  func signInFirst() async throws {
    let provider = ScriptedSignInEndpoint(takesPassword: true)
    try await running { entry in
      async let begun = beginPassword(entry, provider)
      await provider.waitUntilAsked()
      #expect(await revocations.revoke([credential], of: entry) == .later)
      provider.answer(.success(.sample(8)))
      _ = try await begun
      #expect(tokens.revoked.isEmpty && store.kept.count == 1)
    }
  }
}

private final class Order: Sendable {
  private let state = Mutex<[String]>([])

  var all: [String] { state.withLock(\.self) }
  func add(_ step: String) { state.withLock { $0.append(step) } }
}
