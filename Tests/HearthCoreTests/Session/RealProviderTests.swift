import HearthCore
import TestSupport
import Testing

@Suite("A session with real providers, gateways and machines")
struct RealProviderTests {
  private func lasting(
    _ seconds: Int, refresh: Int? = nil, issuedAt: Timestamp = .sample, isRenewable: Bool = true
  ) -> Credential {
    var credential = Credential.sample(
      1, issuedAt: issuedAt, lifetime: .seconds(seconds), isRenewable: isRenewable)
    credential.grant.refreshExpiresAt = refresh.map { issuedAt + .seconds($0) }
    return credential
  }

  // MARK: - Refused

  @Test("asks to sign in if an API refuses an older token that nothing can renew, and does not end")
  func refusedAndUnrenewable() {
    var session = SessionScript.holding(lasting(3600, isRenewable: false))
    session.passes(.seconds(600))
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.action == .signIn)
    #expect(session.snapshot.message.contains("An API rejected the token"))
  }

  @Test("does not give out a refused token even after a lock, until a refresh succeeds")
  func refusedThroughALock() {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.fails(.unavailable(message: "503", retryAfter: .seconds(60)))
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    guard session.answer(asking: .token(minValidity: nil))?.failure?.kind == .refreshUnavailable else {
      Issue.record("it is given")
      return
    }
  }

  // MARK: - When

  @Test("refreshes before the refresh token expires, if that is before the access token does")
  func shorterRefreshLife() {
    var session = SessionScript.holding(lasting(20, refresh: 8))
    session.comesDue()
    #expect(session.now - .sample <= .seconds(7))
    #expect(session.snapshot.isRefreshing)
  }

  @Test("refreshes a token that never expires before its refresh token does")
  func onlyTheRefreshTokenExpires() {
    var credential = lasting(1, refresh: 3600)
    credential.grant.expiresAt = nil
    var session = SessionScript.holding(credential)
    session.comesDue()
    #expect(session.snapshot.isRefreshing)
    #expect(session.now < .sample + .seconds(3600))
  }

  @Test(
    "withholds a token with an issue time in the future, because it may have expired, and refreshes it at once",
    arguments: [61, 3600, 400_000_000])
  func issuedAhead(seconds: Int) {
    let ahead = lasting(3600, issuedAt: .sample + .seconds(seconds))
    var session = SessionScript()
    session.reads(.found(ahead))
    #expect(session.token == nil && session.snapshot.token?.health(at: session.now) == .expired)
    let isWritten = session.effects.contains { if case .write = $0 { true } else { false } }
    #expect(!isWritten, "which clock is right is not known: what was written stays")
    #expect(session.snapshot.isRefreshing)
    session.fails(.unreachable(message: "no route"))
    session.passes(.seconds(seconds < 4000 ? seconds : 4000))
    #expect(session.token == nil && session.state == .authenticated, "not even when this clock reaches that time")
    session.fails(.unreachable(message: "no route"))
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.token == .sample(2))
  }

  @Test("keeps a grant that two readings of a clock make a little early")
  func issuedALittleAhead() {
    var session = SessionScript()
    session.reads(.found(lasting(3600, issuedAt: .sample + .seconds(2))))
    #expect(session.snapshot.token?.expiresAt == .sample + .seconds(3600))
    #expect(session.effects.isEmpty)
  }

  @Test("asks the provider for the time if a nonrenewable token seems to be issued in the future, locked or not")
  func unrenewableAhead() {
    let issued = Timestamp.sample + .seconds(400_000_000)
    let ahead = lasting(3600, issuedAt: issued, isRenewable: false)
    for (age, left) in [(600, 3000), (3600, 0)] {
      var session = SessionScript()
      session.reads(.found(ahead))
      session.fails(.unreachable(message: "no route"))
      session.take(.locked(.screen))
      session.passes(.seconds(4000))
      session.take(.unlocked(.screen))
      session.reads(.found(ahead))
      #expect(session.token == nil && session.state == .authenticated)
      session.isTold(issued + .seconds(age))
      #expect(session.token == (left > 0 ? .sample(1) : nil))
      session.passes(.seconds(left))
      session.writesEnd()
      #expect(session.state == .reauthRequired(.noRefreshToken))
    }
  }

  @Test("counts a lifetime from the request if the machine slept before the answer came")
  func sleptThroughTheAnswer() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.passes(.seconds(8 * 3600))
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.snapshot.token?.health(at: session.now) == .expired)
    #expect(session.snapshot.isRefreshing)
  }

  // MARK: - 401

  @Test("ends after a 401 to a token that cannot be renewed only within two minutes of its issue")
  func oldUnrenewable() {
    var old = SessionScript.holding(lasting(36_000, isRenewable: false))
    old.passes(.seconds(121))
    let refusal = SessionCall.reportUnauthorized(APIRejection(Token.sample(1).fingerprint))
    for _ in 0..<3 { #expect(old.answer(asking: refusal) == .done) }
    #expect(old.state == .authenticated)
    #expect(old.token == .sample(1))
    #expect(old.effects.isEmpty)

    var fresh = SessionScript.holding(lasting(36_000, isRenewable: false))
    fresh.passes(.seconds(119))
    fresh.asks(refusal)
    fresh.writesEnd()
    #expect(fresh.state == .reauthRequired(.rejectedByServer))
  }

  @Test("ends after two 401s only if the second is to a token of the last two minutes")
  func refusedAgain() {
    for (wait, isEnd) in [(119, true), (121, false)] {
      var session = SessionScript.holding()
      session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
      session.isGranted(.sample(2))
      session.writes()
      session.passes(.seconds(wait))
      session.asks(.reportUnauthorized(APIRejection(Token.sample(2).fingerprint)))
      #expect(session.snapshot.isRefreshing != isEnd, "\(wait)")
      session.writesEnd()
      #expect(session.state == (isEnd ? .reauthRequired(.rejectedByServer) : .authenticated), "\(wait)")
    }
  }

  @Test("does not end over a 401 to a token whose successor is already on its way")
  func crossing() {
    var session = SessionScript.holding()
    for number in 1...4 {
      session.passes(.seconds(20))
      session.asks(.refresh)
      let report = session.asks(.reportUnauthorized(APIRejection(Token.sample(number).fingerprint)))
      #expect(session.answer(to: report) == nil, "it waits for the token that is on its way")
      session.isGranted(.sample(number + 1))
      session.writes()
      #expect(session.answer(to: report) == .done)
      #expect(session.state == .authenticated)
    }
    #expect(session.attempts.count == 4)
    session.asks(.reportUnauthorized(APIRejection(Token.sample(5).fingerprint)))
    session.passes(RefreshSettings.leastGap)
    #expect(session.snapshot.isRefreshing, "the current one is refreshed")
  }

  @Test("answers a 401 to a token whose successor did not come, so that it can be reported again")
  func crossingInVain() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    let report = session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.fails(.unavailable(message: "503", retryAfter: nil))
    #expect(session.answer(to: report) == .done)
    #expect(session.token == .sample(1))
  }

  @Test("withholds a token that was reported as refused after a refresh that failed, until one succeeds")
  func refusedStaysRefused() {
    var session = SessionScript.holding()
    let report = session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.fails(.unreachable(message: "no route"))
    #expect(session.answer(to: report) == .done)
    #expect(session.state == .authenticated)
    #expect(session.token == nil)
    let asked = session.asks(.token(minValidity: nil))
    guard session.answer(to: asked)?.failure?.kind == .refreshUnavailable else {
      Issue.record("a token that the API refused is given out: \(session.answers)")
      return
    }
    #expect(
      session.answer(asking: .reportUnauthorized(APIRejection(Token.sample(1).fingerprint))) == .done,
      "it waits no longer than the wait that is on")
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.token == .sample(2))
  }

  @Test("withholds a token that an API rejected before a restart until a refresh replaces it, also after a lock")
  func rejectedBeforeStart() {
    let rejection = APIRejection(Token.sample(1).fingerprint)
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(rejection))
    #expect(session.effects.first == .remember(.rejected(rejection.fingerprint)))
    session.fails(.unavailable(message: "503", retryAfter: nil))
    session.asks(.reportUnauthorized(rejection))
    #expect(session.effects.isEmpty, "the rejection is already remembered")

    for isLocked in [false, true] {
      var next = SessionScript(
        remembered: RememberedAccount(subject: .sample, lockedByUser: isLocked, rejected: rejection.fingerprint))
      next.reads(.found(.sample(1, issuedAt: .sample)))
      if isLocked {
        next.take(.unlocked(.user))
        next.reads(.found(.sample(1, issuedAt: .sample)))
      }
      #expect(next.token == nil && next.attempts.count == 1)
      next.fails(.unavailable(message: "503", retryAfter: nil))
      #expect(next.token == nil && next.snapshot.token?.health(at: next.now) == .expired)
      next.comesDue()
      next.isGranted(.sample(2))
      next.writes()
      #expect(next.token == .sample(2))
      next.asks(.reportUnauthorized(APIRejection(Token.sample(2).fingerprint)))
      next.writesEnd()
      #expect(next.state == .reauthRequired(.rejectedByServer), "a refresh did not help")
    }
    var other = SessionScript(remembered: RememberedAccount(subject: .sample, rejected: rejection.fingerprint))
    other.reads(.found(.sample(2, issuedAt: .sample)))
    #expect(other.token == .sample(2) && other.attempts.isEmpty)
  }

  @Test("advises a sign-in after a restart if nothing can renew the rejected token, until an API accepts it")
  func unrenewableRejectedBeforeStart() {
    let (token, old) = (Token.sample(1).fingerprint, lasting(36_000, isRenewable: false))
    var session = SessionScript(remembered: RememberedAccount(subject: .sample, rejected: token))
    session.reads(.found(old))
    #expect(session.token == .sample(1) && session.snapshot.action == .signIn)
    session.passes(.seconds(121))
    #expect(session.keepsToken(after: APIRejection(token, isAcceptedElsewhere: true)) == true)
    #expect(session.effects == [.remember(.rejected(nil))] && session.snapshot.action == nil)
    #expect(session.answer(asking: .reportUnauthorized(APIRejection(token))) == .done)
    #expect(session.effects == [.remember(.rejected(token))] && session.snapshot.action == .signIn)
  }

  // MARK: - What to do

  @Test("advises to sign in once the token has expired without a final answer for ten minutes, and does not end")
  func adviceToSignIn() {
    for failure in [
      RefreshFailure.unclear(message: "mfa_required", retryAfter: nil), .unavailable(message: "503", retryAfter: nil),
    ] {
      var session = SessionScript.holding(lasting(3600))
      session.passes(.seconds(3300))
      var published = 0
      while session.now < .sample + .seconds(6000) {
        if session.snapshot.isRefreshing { session.fails(failure) } else { session.wakes() }
        published += session.actions.count { $0 == .publish(.statusChanged) }
        let isDue = session.now >= .sample + .seconds(3900)
        #expect((session.snapshot.action == .signIn) == isDue, "at \(session.now)")
      }
      #expect(session.state == .authenticated)
      #expect(published == 1)
      #expect(session.snapshot.message.contains("hearthctl login work"))
      session.comesDue()
      session.isGranted(.sample(2))
      session.writes()
      #expect(session.snapshot.action == nil)
    }
  }

  @Test("does not advise to sign in when there is no network")
  func noAdviceOffline() {
    var session = SessionScript.holding(lasting(3600))
    while session.now < .sample + .seconds(9000), session.wakes() {
      if session.snapshot.isRefreshing { session.fails(.unreachable(message: "no route")) }
    }
    #expect(session.snapshot.token?.health(at: session.now) == .expired)
    #expect(session.snapshot.action == nil)
  }

  @Test("keeps a rotated refresh token that came with an unusable token, and says why")
  func flawed() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    var response = TokenResponse.sample(2)
    response.error = .misconfigured(message: "The provider issues tokens of type DPoP.")
    session.isGranted(response)
    session.writes()
    #expect(session.token == .sample(1))
    #expect(session.snapshot.action == .fixConfiguration)
    #expect(session.snapshot.message.contains("DPoP"))
    session.comesDue()
    let sent: [Token?] = session.effects.map {
      if case .refresh(let sent, _) = $0 { sent.grant.refreshToken } else { nil }
    }
    #expect(sent == [.sample(1002)])
  }

  @Test("keeps a rotated refresh token that came with a malformed answer, and retries by itself")
  func malformed() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    var response = TokenResponse.sample(2)
    response.error = .unavailable(
      message: "The provider answered with a token_type that is not "
        + "a string.", retryAfter: nil)
    session.isGranted(response)
    session.writes()
    #expect(session.token == .sample(1))
    #expect(session.state == .authenticated && session.snapshot.action == nil)
    #expect(session.snapshot.history.lastError?.contains("token_type") == true)
    session.wakes()
    let sent: [Token?] = session.effects.map {
      if case .refresh(let sent, _) = $0 { sent.grant.refreshToken } else { nil }
    }
    #expect(sent == [.sample(1002)])
  }

  // MARK: - Where two features meet

  @Test("answers an import that a sign-out or another sign-in supersedes at once")
  func overtakenImport() {
    for isSignOut in [true, false] {
      var session = SessionScript.holding()
      let adoption = session.imports(.sample(7, issuedAt: .sample))
      if isSignOut { session.asks(.signOut(revoke: true)) } else { session.imports(.sample(8, issuedAt: .sample)) }
      #expect(session.answer(to: adoption) == .rejected(.superseded(.sample)))
    }
  }

  @Test("revokes what was signed out while it was being written")
  func signedOutWhileWritten() {
    var session = SessionScript.holding()
    session.imports(.sample(7, issuedAt: .sample))
    let out = session.asks(.signOut(revoke: true))
    session.writes()
    session.removes()
    #expect(session.answer(to: out) == .signedOut(revoke: [.sample(7, issuedAt: .sample)]))
    #expect(session.state == .unauthenticated(signedOut: true))
  }
}
