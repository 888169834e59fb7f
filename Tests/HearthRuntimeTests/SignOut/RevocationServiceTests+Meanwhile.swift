import HearthControl
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthRuntime

/// What happens while a provider is asked to revoke, and while the clock is wrong.
extension RevocationServiceTests {
  private func beginPassword(
    _ entry: SessionDirectory.Entry, _ provider: ScriptedSignInEndpoint
  ) async throws -> SignInHandle {
    var entry = entry
    entry.signIn = provider
    let signIns = SignInService(
      redirects: ScriptedRedirects(), revocationsEnd: { [revocations] in await revocations.waitUntilIdle(for: $0) })
    return try await signIns.begin(
      .password, as: (name: "ada", password: Secret("secret")), of: entry, replacing: false)
  }

  /// Has the provider asked once more. It is asked one thing at a time, so an answer before has been dealt with then.
  private func asksAgain() async {
    let asked = tokens.revoked.count
    while tokens.revoked.count == asked { await asks() }
  }

  private func asks() async {
    await revocations.networkReturned()
    await Task.yield()
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

  @Test("a moment in which the clock is a week ahead gives no revocation up")
  func clockAhead() async throws {
    try await running { entry in
      tokens.answersRevocations(.unavailable(retryAfter: nil))
      #expect(await revocations.revoke([credential], of: entry) == .later)
      for days in [8, -8] {
        clock.step(by: .seconds(days * 86_400))
        for _ in 1...2 { await asksAgain() }
      }
      tokens.answersRevocations(.revoked)
      while !store.kept.isEmpty { await asks() }
      #expect(await nextLine().contains("has been revoked"))
    }
  }

  @Test("at a start with the clock a week ahead the provider decides, by its answer or by its clock")
  func startAhead() async throws {
    for (isAvailable, age) in [(true, 8), (false, 8), (false, 0)] {
      let bench = RevocationServiceTests()
      let now = bench.clock.now()
      try await bench.store.keep(
        PendingRevocation(of: bench.credential, .sample, id: "1", keeping: .ownKey, at: now))
      bench.clock.step(by: .seconds(8 * 86_400))
      bench.tokens.answersRevocations(isAvailable ? .revoked : .unavailable(retryAfter: nil))
      bench.tokens.tells(time: now + .seconds(age * 86_400))
      try await bench.running { _ in
        if isAvailable {
          #expect(await bench.nextLine().contains("has been revoked"))
        } else if age > 7 {
          #expect(await bench.nextLine().contains("revoke this client's access at the provider"))
        } else {
          for _ in 1...2 { await bench.asksAgain() }
          bench.tokens.answersRevocations(.revoked)
          while !bench.store.kept.isEmpty { await bench.asks() }
          #expect(await bench.nextLine().contains("has been revoked"))
        }
      }
      #expect(bench.store.kept.isEmpty)
    }
  }
}

private final class Order: Sendable {
  private let state = Mutex<[String]>([])

  var all: [String] { state.withLock(\.self) }
  func add(_ step: String) { state.withLock { $0.append(step) } }
}
