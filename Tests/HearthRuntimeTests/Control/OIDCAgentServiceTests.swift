import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

/// Takes a moment for nothing; what it makes is the password itself, backwards.
private struct ReadablePasswords: PasswordHashing {
  func hash(_ password: Secret) async -> String? { String(password.reveal().reversed()) }
  func isPassword(_ password: Secret, of hash: String) async -> Bool { await self.hash(password) == hash }
}

extension OIDCAgentAnswer {
  fileprivate var error: String? { json["error"]?.string }
  fileprivate var info: JSON? { json["info"] }
}

@Suite("What the clients of oidc-agent are answered", .timeLimit(.minutes(1)))
struct OIDCAgentServiceTests {
  let bench = MetricsBench()
  let sessions = SessionDirectory()
  let endpoint = ScriptedTokenEndpoint()

  /// With two accounts: "work", which is signed in, and "other", which is not.
  private func serving(_ body: @Sendable (OIDCAgentService) async throws -> Void) async throws {
    try await withService { fixture in
      let control = try CallMetricsTests.control(bench, fixture.service, sessions)
      let service = OIDCAgentService(control, passwords: ReadablePasswords())
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [sessions] in await sessions.run() }
        group.addTask { await control.sinks.run() }
        let grant = MemoryCredentialStore(.grant(.sample(1, issuedAt: bench.clock.now())))
        try await add("work", grant, TokenOffer(scopes: ["openid", "notes"], audience: "api"))
        try await add("other", MemoryCredentialStore(), TokenOffer())
        try await body(service)
        await sessions.stop(patience: .zero)
        await control.sinks.stop()
      }
    }
  }

  private func name(_ text: String) throws -> AccountName { try #require(AccountName(text)) }

  private func add(_ text: String, _ store: MemoryCredentialStore, _ offer: TokenOffer) async throws {
    let name = try name(text)
    var settings = SessionSettings()
    settings.issuer = "https://\(name).example.com"
    let service = SessionService(
      account: name, settings: settings, store: store, endpoint: endpoint, clock: bench.clock, logger: .silent, seed: 1,
      publish: { _, _ in })
    await sessions.set(
      SessionDirectory.Entry(service: service, signIn: ScriptedSignInEndpoint(), place: "\(name)", offer: offer),
      for: name)
    _ = await sessions.ask(.awaitReading, of: name)
  }

  private func token(
    _ owner: OIDCAgentRequest.AccessToken.Owner = .account("work"), _ scope: String? = nil, _ audience: String? = nil
  ) -> OIDCAgentRequest {
    .accessToken(OIDCAgentRequest.AccessToken(owner, scope: scope, audience: audience))
  }

  private func given(_ number: Int) -> OIDCAgentAnswer {
    .token(
      Token.sample(number).secret, issuer: "https://id.example.com", expiresAt: bench.clock.now() + .seconds(3600))
  }

  @Test("A token is given by the account's name, and by its issuer, with a slash or without")
  func tokens() async throws {
    try await serving { service in
      #expect(await service.answer(token()) == given(1))
      #expect(await service.answer(token(.issuer("https://work.example.com/"))) == given(1))
      #expect(await service.answer(token(.issuer("https://id.example.com"))) == given(1))
      #expect(await service.answer(token(.account("nobody"))).error == "No account configured with that short name")
      #expect(await service.answer(token(.issuer("https://nobody.example.com"))).error == "account not loaded")
      #expect(await service.answer(token(.account("other"))).error == "account not loaded")
    }
  }

  @Test("Of several accounts of an issuer none is chosen: the answer names them")
  func several() async throws {
    try await serving { service in
      try await add("work2", MemoryCredentialStore(.grant(.sample(2, issuedAt: bench.clock.now()))), TokenOffer())
      let answer = await service.answer(token(.issuer("https://id.example.com")))
      #expect(answer.info == "Ask for one by its name: work, work2.\n")
    }
  }

  @Test("Scopes and an audience may be asked for where the tokens have them; others are refused, not passed over")
  func terms() async throws {
    try await serving { service in
      #expect(await service.answer(token(.account("work"), "notes  openid", "api")) == given(1))
      let fewer = await service.answer(token(.account("work"), "openid"))
      #expect(fewer.error == "invalid_scope: the tokens of work have other scopes")
      let elsewhere = await service.answer(token(.account("work"), nil, "elsewhere"))
      #expect(elsewhere.error == "invalid_target: the tokens of work have another audience")
    }
  }

  @Test("A new token is asked of the provider, and so is one that lasts longer than what there is")
  func renewal() async throws {
    try await serving { service in
      let new = OIDCAgentRequest.accessToken(OIDCAgentRequest.AccessToken(.account("work"), validity: .new))
      async let answer = service.answer(new)
      await endpoint.waitForRequests(1)
      endpoint.answer(.granted(.sample(2)))
      #expect(await answer == given(2))
      bench.clock.advance(by: .seconds(3000))
      let long = OIDCAgentRequest.AccessToken(.account("work"), validity: .atLeast(.seconds(1000)))
      async let later = service.answer(.accessToken(long))
      await endpoint.waitForRequests(2)
      endpoint.answer(.granted(.sample(3)))
      #expect(await later == given(3))
    }
  }

  @Test("Loaded are the accounts that have a session")
  func loaded() async throws {
    try await serving { service in
      #expect(await service.answer(.loadedAccounts) == .success(info: ["work"]))
      #expect(await service.answer(.statusJSON).info?["loaded_accounts"] == ["work"])
      #expect(await service.answer(.status).info?.string?.hasSuffix(" with 1 account: work") == true)
    }
  }

  @Test("A lock closes everything, the accounts themselves too, until the same password opens it")
  func lock() async throws {
    try await serving { service in
      let (work, other) = (try name("work"), try name("work2"))
      try await add("work2", MemoryCredentialStore(.grant(.sample(2, issuedAt: bench.clock.now()))), TokenOffer())
      await sessions.reach(other) { await $0.lock(.user) }
      #expect(await service.answer(.unlock(Secret("a"))).error == "Agent not locked")
      #expect(await service.answer(.lock(Secret("a"))) == .success(info: "Agent locked"))
      #expect(await sessions[work]?.service.snapshot().state == .locked(.explicit(.user)))
      #expect(await service.answer(.check) == .success())
      for request in [token(), .loadedAccounts, .status, .lock(Secret("b")), .foreign(.management)] {
        #expect(await service.answer(request).error == "Agent locked")
      }
      #expect(await service.answer(.unlock(Secret("b"))).error == "wrong password")
      let tooSoon = await service.answer(.unlock(Secret("a")))
      #expect(tooSoon.info == "It was not tried, because passwords before were wrong; try again in 1 s.\n")
      bench.clock.advance(by: .seconds(1))
      #expect(await service.answer(.unlock(Secret("a"))) == .success(info: "Agent unlocked"))
      guard case .token = await service.answer(token()) else {
        Issue.record("there is no token")
        return
      }
      #expect(
        await sessions[other]?.service.snapshot().state == .locked(.explicit(.user)),
        "an account that was locked before stays so")
    }
  }

  @Test("A lock that the user has set stays, also where there was nothing to lock yet")
  func lockOfNothing() async throws {
    try await serving { service in
      let other = try name("other")
      await sessions.reach(other) { await $0.lock(.user) }
      #expect(await sessions[other]?.service.snapshot().state == .unauthenticated(signedOut: false))
      #expect(await service.answer(.lock(Secret("a"))) == .success(info: "Agent locked"))
      #expect(await service.answer(.unlock(Secret("a"))) == .success(info: "Agent unlocked"))
      #expect(await sessions[other]?.service.isSet(.user) == true)
    }
  }

  @Test("An account that the user has locked is a locked agent for them, and the answer says how to unlock it")
  func lockedAccount() async throws {
    try await serving { service in
      await sessions.reach(.sample) { await $0.lock(.user) }
      let answer = await service.answer(token())
      #expect(answer.error == "Agent locked")
      #expect(answer.info == "Locked. Run \"hearthctl unlock work\".\n")
    }
  }

  @Test("What Hearth does itself is refused by a sentence that names its own commands")
  func management() async throws {
    try await serving { service in
      let answer = await service.answer(.foreign(.management))
      #expect(answer.error == "operation forbidden")
      #expect(answer.info?.string?.contains("\"hearthctl account\"") == true)
      #expect(await service.answer(.foreign(.idToken)).error == "Not yet implemented")
    }
  }

  @Test("Requests are counted beside the calls of Hearth's own socket")
  func counts() async throws {
    try await serving { service in
      _ = await service.answer(token())
      _ = await service.answer(token(.account("nobody")))
      #expect(bench.value(#"hearth_rpc_calls_total{method="oidc-agent.access_token",result="success"}"#) == "1")
      #expect(bench.value(#"hearth_rpc_calls_total{method="oidc-agent.access_token",result="unknownAccount"}"#) == "1")
    }
  }
}
