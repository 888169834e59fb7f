import HearthCore
import TestSupport
import Testing

@Suite("A client-credentials session, which needs no user")
struct ClientCredentialsTests {
  private let settings = SessionSettings(locks: Set(Lock.allCases), renewsWithoutRefreshToken: true)
  private let own = TokenResponse(accessToken: .sample(2), lifetime: .seconds(3600), subject: .sample, origin: .sample)

  private func isAsking(_ session: SessionScript) -> Bool {
    session.effects.contains { if case .requestGrant = $0 { true } else { false } }
  }

  private func holding() -> SessionScript {
    .holding(.sample(1, issuedAt: .sample, isRenewable: false), settings)
  }

  @Test("requests a grant by itself if nothing was ever signed in, and says so until it has a token")
  func first() {
    var session = SessionScript(settings)
    session.reads(.neverSignedIn)
    #expect(isAsking(session))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.token == nil)
    #expect(session.snapshot.message == "No token yet: Hearth is requesting the first one.")
    let waiting = session.asks(.token(minValidity: nil))
    session.isGranted(own)
    #expect(session.answer(to: waiting) == nil, "it is not on disk yet")
    session.writes()
    #expect(session.answer(to: waiting)?.isToken == true)
    #expect(session.events.contains(.signedIn(.sample)))
  }

  @Test("makes nothing due because of a refresh token that is not used")
  func unusedRefreshToken() {
    var session = SessionScript(settings)
    session.reads(.neverSignedIn)
    var response = TokenResponse.sample(2)
    response.refreshLifetime = .seconds(30)
    session.isGranted(response)
    session.writes()
    #expect(session.snapshot.token?.refreshExpiresAt == nil)
    session.comesDue()
    #expect(session.attempts.count == 2 && session.now > .sample + .seconds(3000))
  }

  @Test("backs off while the provider is unavailable, tells callers, and continues by itself")
  func backsOff() {
    var session = SessionScript(settings)
    session.reads(.neverSignedIn)
    session.fails(.unreachable(message: "no route"))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.history.failures == 1)
    #expect(session.snapshot.message.hasPrefix("No token yet: ") && session.snapshot.message.contains("no route"))
    guard session.answer(asking: .token(minValidity: nil))?.failure?.kind == .refreshUnavailable else {
      Issue.record("\(session.answers)")
      return
    }
    session.comesDue()
    #expect(isAsking(session))
    session.isGranted(own)
    session.writes()
    #expect(session.token == .sample(2))
    #expect(session.snapshot.history.failures == 0)
  }

  @Test("never advises to sign in, however long the provider refuses, and asks to fix its configuration")
  func refusedClient() {
    var session = SessionScript(settings)
    session.reads(.neverSignedIn)
    session.fails(.misconfigured(message: "invalid_client"))
    #expect(session.snapshot.action == .fixConfiguration)
    #expect(session.snapshot.message.hasPrefix("No token yet: "))
    session.take(.configured(settings))
    session.passes(RefreshSettings.leastGap)
    #expect(isAsking(session))
  }

  @Test("requests a grant again if its file was deleted or corrupt, or an earlier version left an end")
  func getsOverTheFile() {
    var deleted = holding()
    deleted.isHinted(.missing("work.json"))
    #expect(isAsking(deleted))
    deleted.isGranted(own)
    deleted.writes()
    #expect(deleted.token == .sample(2))

    var gone = SessionScript(settings)
    gone.reads(.missing("work.json"))
    #expect(isAsking(gone))

    var garbage = SessionScript(settings)
    garbage.reads(.corrupt("no JSON"))
    garbage.setsAside()
    #expect(isAsking(garbage))

    var spoilt = SessionScript(settings)
    spoilt.reads(.tooNew(version: 9))
    spoilt.isHinted(.corrupt("no JSON"))
    spoilt.setsAside()
    #expect(isAsking(spoilt))

    for reason in [EndReason.credentialMissing, .credentialCorrupt, .refreshTokenRejected] {
      let end = EndRecord(reason: reason, at: .sample, fingerprint: nil)
      var remembered = SessionScript(settings, remembered: RememberedAccount(end: end))
      remembered.reads(.ended(end))
      #expect(isAsking(remembered), "\(reason)")
      var updated = SessionScript(settings)
      updated.reads(.tooNew(version: 9))
      updated.isHinted(.ended(end))
      #expect(isAsking(updated), "\(reason)")
    }
  }

  @Test("requests a grant at once on a sign-in: after a sign-out, after an API refused it, and while it is well")
  func signsIn() {
    var signedOut = holding()
    signedOut.asks(.signOut(revoke: false))
    signedOut.removes()
    signedOut.passes(.seconds(100_000))
    #expect(!isAsking(signedOut), "what was signed out stays signed out")
    for (name, start) in [
      ("signed out", signedOut),
      ("refused", refusedTwice()),
    ] {
      var session = start
      let id = session.asks(.requestGrant)
      #expect(isAsking(session), "\(name)")
      session.isGranted(own)
      session.writes()
      #expect(session.answer(to: id) == .done, "\(name)")
      #expect(session.token == .sample(2), "\(name)")
    }
    var well = holding()
    let id = well.asks(.requestGrant)
    well.isGranted(own)
    well.writes()
    #expect(well.answer(to: id) == .done)
  }

  private func refusedTwice() -> SessionScript {
    var session = holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.isGranted(TokenResponse(accessToken: .sample(3), lifetime: .seconds(3600), origin: .sample))
    session.writes()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(3).fingerprint)))
    session.writesEnd()
    session.passes(RefreshSettings.leastGap)
    return session
  }

  @Test("ends after two 401s like any other, and says who can start it again")
  func refusedByTheAPI() {
    var session = refusedTwice()
    #expect(session.state == .reauthRequired(.rejectedByServer))
    session.passes(.seconds(100_000))
    #expect(!isAsking(session))
  }

  @Test("requests nothing while locked, and continues after the unlock")
  func locked() {
    var session = SessionScript(settings, remembered: RememberedAccount(lockedByUser: true))
    session.reads(.neverSignedIn)
    #expect(!isAsking(session))
    #expect(session.state == .locked(.explicit(.user)))
    session.take(.unlocked(.user))
    session.notesLock()
    session.reads(.neverSignedIn)
    #expect(isAsking(session))
    session.take(.locked(.screen))
    session.isGranted(own)
    session.writes()
    #expect(session.token == nil)
    #expect(session.machine.credentialState == .notHeld(.locked))
  }

  @Test("says for another type of account that somebody has to sign in")
  func otherTypes() {
    var session = SessionScript.holding()
    let message = "Only client-credentials accounts support this flow."
    #expect(
      session.answer(asking: .requestGrant) == .rejected(Failure(.flowNotSupported, message, account: .sample)))
  }
}
