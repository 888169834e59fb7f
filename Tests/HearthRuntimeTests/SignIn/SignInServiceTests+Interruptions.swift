import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

/// What ends a sign-in from outside, while it waits for the person and while the provider is asked.
extension SignInServiceTests {
  @Test("a sign-out meanwhile ends it")
  func signedOut() async throws {
    try await running {
      let begun = try await begin()
      _ = await entry.service.call(.signOut(revoke: false))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signedOutMeanwhile(.sample)))
    }
  }

  @Test("a sign-out while a sign-in is only beginning at the provider ends that, too, and none that begins later")
  func signedOutWhileBeginning() async throws {
    try await running {
      for flow in [SignInFlow.device, .browser] {
        provider.whenAsked { [entry] in _ = await entry.service.call(.signOut(revoke: false)) }
        await #expect(throws: Failure.signedOutMeanwhile(.sample)) { try await begin(flow) }
        provider.whenAsked {}
        _ = try await begin(flow)
      }
    }
  }

  @Test("the shown end of a sign-in follows the clock when that is set, and the sign-in lasts as long as planned")
  func clockSet() async throws {
    try await running {
      let begun = try await begin()
      // A step of the clock before anybody sleeps would change how long the sign-in lasts.
      await clock.waitForSleeper(until: clock.now() + Self.roomDeadline)
      clock.step(by: .seconds(3600), isTold: false)
      let shown = begun.progress.expiresAt + .seconds(3600)
      #expect(await entry.service.snapshot().signIn?.expiresAt == shown)
      _ = await redirects.addresses[0].get(Self.answer, by: .otherUser)
      let told = await entry.service.snapshot().signIn
      #expect(told?.expiresAt == shown && told?.message != nil)
      clock.step(by: .seconds(-7200))
      #expect(await entry.service.snapshot().signIn?.expiresAt == shown - .seconds(7200))
      clock.advance(by: shown - .seconds(7200) - clock.now())
      #expect(await signIns.outcome(of: begun.id) == .failure(.signInTimedOut(.sample, unanswered: nil)))
    }
  }

  @Test("a session that was locked meanwhile is not replaced, and the code is not redeemed")
  func lockedMeanwhile() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      await entry.service.lock(.user)
      #expect(await signIns.outcome(of: begun.id) == .failure(Self.locked))
      #expect(provider.codes.isEmpty && store.written.isEmpty)
    }
  }

  @Test("a new configuration does not end it, also if the credential is kept elsewhere, and is for the next one")
  func outlives() async throws {
    try await running {
      let begun = try await begin()
      var next = entry
      next.signIn = ScriptedSignInEndpoint()
      let place = MemoryCredentialStore()
      await entry.service.configured(.obeyingEveryLock, endpoint: ScriptedTokenEndpoint(), store: place)
      await sessions.update(next)
      #expect(await entry.service.snapshot().signIn == begun.progress)
      provider.answer(.success(.sample(8)))
      #expect(await redirects.addresses[0].get(Self.answer).html.contains("You are signed in"))
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(provider.codes == [Secret("x")] && store.written.isEmpty && place.written.count == 1)
    }
  }

  @Test("it ends if its account is no longer configured")
  func reconfigured() async throws {
    try await running {
      let begun = try await begin()
      await sessions.remove(.sample)
      #expect(await signIns.outcome(of: begun.id) == .failure(.reconfigured(.sample)))
    }
  }

  @Test("a sign-out while the code is on its way to the provider is not undone by it")
  func signedOutBeforeGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      _ = await entry.service.call(.signOut(revoke: true))
      #expect(await page.html.contains("You are not signed in"))
      provider.answer(.success(.sample(8)))
      await leftovers.wait(for: 1)
      #expect(await signIns.outcome(of: begun.id) == .failure(.signedOutMeanwhile(.sample)))
      #expect(await entry.service.snapshot().state == .unauthenticated(signedOut: true))
    }
  }

  @Test("one that is given up while it is granted is over at once, the grant is left over, and the session stays")
  func cancelledDuringGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      #expect(await signIns.cancel(begun.id))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signInCancelled(.sample)))
      #expect(await page.html.contains("You are not signed in"))
      #expect(await entry.service.snapshot().signIn == nil)
      provider.answer(.success(.sample(8)))
      await leftovers.wait(for: 1)
      #expect(store.written.isEmpty && tokens.revoked.isEmpty)
    }
  }

  @Test("what is granted while the account has been locked is revoked, and the credential stays")
  func lockedDuringGrant() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      await entry.service.lock(.user)
      provider.answer(.success(.sample(8)))
      _ = await page
      #expect(await signIns.outcome(of: begun.id) == .failure(Self.locked))
      #expect(store.written.isEmpty && leftovers.all.count == 1)
    }
  }

  /// Of the user's own lock.
  private static let locked = Failure(
    .locked, "Locked. Run \"hearthctl unlock \(AccountName.sample)\".", account: .sample, action: .unlock)

  @Test("a lock ends what waits for the person, in browser and device, and is what is told", arguments: [true, false])
  func lockedWhileWaiting(_ isBrowser: Bool) async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      let begun = try await begin(isBrowser ? .browser : .device)
      #expect(await entry.service.snapshot().signIn == begun.progress, "nothing is locked yet")
      await entry.service.lock(.user)
      #expect(await signIns.outcome(of: begun.id) == .failure(Self.locked))
      #expect(await entry.service.snapshot().signIn == nil && provider.polls == 0)
    }
  }

  @Test("a lock does not end a sign-in that is to replace what is locked")
  func replacesLocked() async throws {
    store.becomes(.grant(.sample(1, issuedAt: clock.now())))
    try await running {
      await entry.service.lock(.user)
      let begun = try await signIns.begin(.browser, of: entry, replacing: true)
      #expect(await entry.service.snapshot().signIn == begun.progress)
    }
  }

  @Test("a lock of an account without a session ends what waits for the person", arguments: [true, false])
  func lockedWithoutSession(_ isBrowser: Bool) async throws {
    try await running {
      let begun = try await begin(isBrowser ? .browser : .device)
      #expect(await entry.service.snapshot().signIn == begun.progress, "nothing is locked yet")
      await entry.service.lock(.user)
      #expect(await signIns.outcome(of: begun.id) == .failure(Self.locked))
      #expect(await entry.service.snapshot().signIn == nil && provider.polls == 0)
    }
  }

  @Test("what is granted while the user locks an account without a session is revoked, and the account has none")
  func lockedWithoutSessionDuringGrant() async throws {
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      await entry.service.lock(.user)
      provider.answer(.success(.sample(8)))
      _ = await page
      #expect(await signIns.outcome(of: begun.id) == .failure(Self.locked))
      #expect(store.written.isEmpty && leftovers.all.count == 1)
      #expect(await entry.service.snapshot().state == .unauthenticated(signedOut: false))
    }
  }

  @Test("a lock older than a sign-in without a session goes with it; one newer than a sign-in that replaces stays")
  func olderAndNewerLocks() async throws {
    try await running {
      await entry.service.lock(.user)
      _ = try await begin()
      provider.answer(.success(.sample(8)))
      #expect(await redirects.addresses[0].get(Self.answer).status == 200)
      #expect(await entry.service.snapshot().state == .authenticated)

      _ = try await signIns.begin(.browser, of: entry, replacing: true)
      await entry.service.lock(.user)
      provider.answer(.success(.sample(9)))
      #expect(await redirects.addresses[1].get(Self.answer).status == 200)
      #expect(await entry.service.snapshot().state == .locked(.explicit(.user)))
    }
  }

  @Test("a device's sign-in that is given up during a poll is over before the answer")
  func cancelledDuringPoll() async throws {
    try await running {
      let begun = try await begin(.device)
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      clock.advance(by: .seconds(5))
      await provider.waitUntilAsked()
      #expect(await signIns.cancel(begun.id))
      #expect(await signIns.outcome(of: begun.id) == .failure(.signInCancelled(.sample)))
      provider.answer(.pending)
    }
  }

  @Test("stopping ends what waits for a person")
  func stopping() async throws {
    try await running {
      let begun = try await begin()
      async let outcome = signIns.outcome(of: begun.id)
      await signIns.stop()
      #expect(await outcome == .failure(.shuttingDown))
      await #expect(throws: Failure.shuttingDown) { try await begin() }
    }
  }

  @Test("a code that is being redeemed when the daemon stops still lands, and the browser is told")
  func stoppingDuringGrant() async throws {
    try await running {
      let begun = try await begin()
      async let page = redirects.addresses[0].get(Self.answer)
      await provider.waitUntilAsked()
      await signIns.stop()
      async let stopped: Void = sessions.stop(timeout: .seconds(35))
      await clock.waitForSleeper(until: clock.now() + .seconds(35))
      provider.answer(.success(.sample(8)))
      #expect(await page.status == 200)
      await stopped
      #expect(try await signIns.outcome(of: begun.id)?.get().state == .authenticated)
      #expect(store.written.count == 1 && leftovers.all.isEmpty)
    }
  }

  @Test("a poll that is under way when the daemon stops is heard, and the sign-in ends where nothing was granted")
  func stoppingDuringPoll() async throws {
    try await running {
      let begun = try await begin(.device)
      await clock.waitForSleeper(until: clock.now() + .seconds(5))
      clock.advance(by: .seconds(5))
      await provider.waitUntilAsked()
      await signIns.stop()
      provider.answer(.pending)
      #expect(await signIns.outcome(of: begun.id) == .failure(.shuttingDown))
    }
  }
}
