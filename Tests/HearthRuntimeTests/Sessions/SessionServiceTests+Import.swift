import HearthCore
import HearthRuntime
import TestSupport
import Testing

/// Grants that are imported.
extension SessionServiceTests {
  @Test("times an imported grant by the clock as it is when the session takes it over")
  func stepDuringAdoption() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      endpoint.identifies(as: .sample) { [clock] in clock.step(by: .seconds(-7200), isTold: false) }
      endpoint.answer(.granted(.sample(8, subject: nil)))
      try await service.adopt(.sample(7, issuedAt: clock.now(), lifetime: .zero), isTried: false)
      #expect(await service.snapshot().token?.expiresAt == clock.now() + .seconds(3600))
    }
  }

  @Test("binds an imported grant that is not sent at once to the origin that the token endpoint has then")
  func bindsImports() async throws {
    store.becomes(.nothing)
    endpoint.isAt(.sample)
    try await running {
      var imported = Credential.sample(7, issuedAt: clock.now())
      imported.origin = nil
      try await service.adopt(imported, isTried: true)
      #expect(store.written == [.sample(7, issuedAt: clock.now())])
      #expect(endpoint.requests.isEmpty)
    }
  }

  @Test("binds an imported grant to the endpoints that are named then", arguments: [false, true])
  func bindsEndpoints(isTried: Bool) async throws {
    store.becomes(.nothing)
    let other = try HTTPURL("https://revoke.example.com/").origin
    endpoint.hasEndpoints(at: [.sample, other])
    var granted = TokenResponse.sample(8)
    granted.origins = [.sample, other]
    endpoint.answer(.granted(granted))
    try await running {
      var imported = Credential.sample(7, issuedAt: clock.now())
      imported.origin = nil
      try await service.adopt(imported, isTried: isTried)
      #expect(store.written.map(\.origins) == [[.sample, other]])
    }
  }

  @Test(
    "lets a grant that is imported without an expiry expire as its token says, or after an hour if it can be renewed")
  func importsWithoutExpiry() async throws {
    store.becomes(.nothing)
    try await running {
      let named = clock.now() + .seconds(60)
      for (expiry, isRenewable, expected) in [
        (named, true, named), (named, false, named), (nil, true, clock.now() + .seconds(3600)), (nil, false, nil),
      ] as [(Timestamp?, Bool, Timestamp?)] {
        endpoint.tells(expiry: expiry)
        try await service.adopt(
          .sample(7, issuedAt: clock.now(), lifetime: nil, isRenewable: isRenewable), isTried: true)
        #expect(await service.snapshot().token?.expiresAt == expected)
      }
    }
  }

  @Test("does not end by this machine's clock what was imported with the expiry that its token names")
  func importedAheadOfTime() async throws {
    store.becomes(.nothing)
    try await running {
      endpoint.tells(expiry: clock.now() - .seconds(60))
      try await service.adopt(.sample(7, issuedAt: clock.now(), lifetime: nil, isRenewable: false), isTried: true)
      #expect(await service.snapshot().state == .authenticated)
    }
  }

  @Test("answers an import that a sign-out supersedes at once, and leaves what the provider grants for it later")
  func importIsSuperseded() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      let imported = Credential.sample(7, subject: nil, issuedAt: clock.now(), lifetime: .zero)
      try await withThrowingTaskGroup { group in
        group.addTask { [service] in
          await #expect(throws: Failure.superseded(.sample)) { try await service.adopt(imported, isTried: false) }
        }
        await endpoint.waitForRequests(1)
        _ = await service.call(.signOut(revoke: false))
        try await group.waitForAll()
      }
      #expect(endpoint.requests.count == 1, "the provider has not answered yet")
      endpoint.answer(.granted(.sample(8)))
    }
    #expect(leftovers.all.map(\.grant.accessToken) == [.sample(8)])
  }

  @Test("lets an import land before it stops, and publishes nothing after that")
  func importLandsBeforeStopping() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { [service] in await service.run() }
      _ = await service.call(.awaitReading)
      let imported = Credential.sample(7, subject: nil, issuedAt: clock.now(), lifetime: .zero)
      group.addTask { [service] in try await service.adopt(imported, isTried: false) }
      await endpoint.waitForRequests(1)
      group.addTask { [service] in await service.stop() }
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      endpoint.answer(.granted(.sample(8)))
      try await group.waitForAll()
    }
    #expect(store.written.map(\.grant.accessToken) == [.sample(8)])
    let late = Credential.sample(9, issuedAt: clock.now())
    await #expect(throws: Failure.shuttingDown) { try await service.adopt(late, isTried: true) }
    let published = events.all
    await service.lock(.user)
    #expect(events.all == published)
  }

  @Test("uses an imported grant only once the provider has accepted it, and keeps the session before it otherwise")
  func refusedImportChangesNothing() async throws {
    try await running {
      _ = await service.call(.awaitReading)
      endpoint.answer(.failed(.rejected(.refreshToken, message: "invalid_grant")))
      let imported = Credential.sample(7, subject: nil, issuedAt: clock.now(), lifetime: .zero)
      await #expect(throws: Failure(.signInFailed, "invalid_grant", account: .sample)) {
        try await service.adopt(imported, isTried: false)
      }
      #expect(await service.snapshot().token?.fingerprint == Token.sample(1).fingerprint)
    }
  }
}
