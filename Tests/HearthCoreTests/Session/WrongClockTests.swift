import HearthCore
import TestSupport
import Testing

@Suite("A session on a machine whose clock is wrong")
struct WrongClockTests {
  /// An hour's access token, and half an hour's refresh token.
  private let short: Credential = {
    var credential = Credential.sample(1, issuedAt: .sample)
    credential.grant.refreshExpiresAt = .sample + .seconds(1800)
    return credential
  }()
  private let unrenewable = Credential.sample(1, issuedAt: .sample, isRenewable: false)

  /// A session that was started while the clock is ahead by this much.
  private func started(ahead: Duration, with credential: Credential) -> SessionScript {
    var session = SessionScript(at: .sample + ahead)
    session.reads(.found(credential))
    return session
  }

  /// Returns a session that starts in the boot that stored the credential, after `passed`, with the clock set by
  /// `step`.
  private func restarted(_ credential: Credential, step: Duration, after passed: Duration) -> SessionScript {
    let clockStep = ClockStep(token: credential.grant.accessToken.fingerprint, step: step)
    var session = SessionScript(remembered: RememberedAccount(clockStep: clockStep), at: .sample + passed + step)
    session.reads(.found(credential))
    return session
  }

  private func isAskingForTheTime(_ session: SessionScript) -> Bool {
    session.effects.contains { if case .askTime = $0 { true } else { false } }
  }

  // MARK: - With something to ask with

  @Test("a lifetime that has expired by a clock two hours ahead is checked after a start, and ends nothing")
  func aheadAtBoot() {
    var session = started(ahead: .seconds(7200), with: short)
    #expect(session.effects == [.refresh(short, generation: 0)])
    #expect(session.state == .authenticated && session.token == nil)
    #expect(session.snapshot.token?.health(at: session.now) == .expired)
    for _ in 0..<20 {
      session.fails(.unclear(message: "400", retryAfter: nil))
      session.comesDue()
    }
    #expect(session.state == .authenticated, "no final word was said")
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.token == .sample(2))
  }

  @Test("a lifetime that seems to have expired after a start ends the session once the provider has refused for good")
  func refusedAfterBoot() {
    var session = started(ahead: .seconds(7200), with: short)
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(short))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
  }

  @Test("a clock set ahead after a start makes a read grant seem expired; it is checked, and ends nothing")
  func setAheadAfterStart() {
    var session = SessionScript.holding(short)
    session.steps(.seconds(7200))
    #expect(session.state == .authenticated && session.token == nil)
    #expect(session.attempts.count == 1)
    session.fails(.unreachable(message: "no route"))
    session.steps(.seconds(-7200))
    #expect(session.token == .sample(1), "set right again, it is as it was")
  }

  @Test("a lifetime that this process has counted is certain, wherever the clock is set meanwhile")
  func counted() {
    var session = SessionScript.signedIn(short)
    session.steps(.seconds(7200))
    session.writes()
    #expect(session.token == .sample(1) && session.snapshot.token?.remaining(at: session.now) == .seconds(3600))
    session.steps(.seconds(-86_400))
    session.writes()
    session.passes(.seconds(3599))
    #expect(session.token == .sample(1))
    session.passes(.seconds(1))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenExpired))
  }

  @Test("the end of a refresh token from before the start is uncertain, even if refreshes have succeeded")
  func keptEnd() {
    var kept = Credential.sample(1, issuedAt: .sample)
    kept.grant.refreshExpiresAt = .sample + .seconds(86_400)
    var session = started(ahead: .seconds(82_800), with: kept)
    var granted = 1
    while session.now < .sample + .seconds(3 * 86_400), session.attempts.count < 100 {
      guard session.snapshot.isRefreshing else {
        session.wakes()
        continue
      }
      granted += 1
      session.isGranted(
        TokenResponse(accessToken: .sample(granted), lifetime: .seconds(3600), subject: .sample, origin: .sample))
      session.writes()
    }
    #expect(session.state == .authenticated)
    #expect(session.attempts.count < 100, "the provider is not asked all the time because of it")
  }

  @Test("the end of a refresh token from an earlier grant is uncertain after the clock was set back")
  func keptEndAfterStepBack() {
    var kept = Credential.sample(2, issuedAt: .sample + .seconds(80_000))
    kept.grant.refreshExpiresAt = .sample + .seconds(85_000)
    var session = SessionScript(at: .sample)
    session.reads(.found(kept))
    while session.now < .sample + .seconds(6000), session.state == .authenticated, session.attempts.count < 100 {
      if session.snapshot.isRefreshing { session.fails(.unavailable(message: "503", retryAfter: nil)) }
      guard session.wakes() else { break }
    }
    #expect(session.now >= .sample + .seconds(6000) && session.state == .authenticated)
  }

  @Test("a lifetime that arrived during sleep, at an unknown time, is checked before the session ends by it")
  func sleptThroughTheAnswer() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.passes(.seconds(8 * 3600))
    var response = TokenResponse.sample(2)
    response.refreshLifetime = .seconds(1800)
    session.isGranted(response)
    session.writes()
    #expect(session.state == .authenticated && session.snapshot.isRefreshing)
  }

  // MARK: - With nothing to ask with

  @Test("a token that nothing can renew, and that seems to have expired, is withheld, and ends nothing")
  func unrenewableAhead() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    #expect(isAskingForTheTime(session))
    for _ in 0..<20 {
      session.fails(.unreachable(message: "no route"))
      #expect(session.state == .authenticated && session.token == nil)
      #expect(session.snapshot.token?.health(at: session.now) == .expired)
      guard session.answer(asking: .token(minValidity: nil))?.failure?.kind == .refreshUnavailable else {
        Issue.record("\(session.answers)")
        return
      }
      session.comesDue()
      #expect(isAskingForTheTime(session))
    }
  }

  @Test("if the answer about the time is lost under a lock, the time is asked for again after the unlock")
  func lockedMeanwhile() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    session.take(.locked(.screen))
    session.fails(.unanswered(message: "timeout"))
    #expect(!isAskingForTheTime(session) && !session.snapshot.isRefreshing)
    session.take(.unlocked(.screen))
    session.reads(.found(unrenewable))
    session.comesDue()
    #expect(isAskingForTheTime(session))
  }

  @Test("a token that nothing can renew ends the session after a start if the provider's clock agrees")
  func agrees() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    session.isTold(.sample + .seconds(3600))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.noRefreshToken))
  }

  @Test("a token that nothing can renew is served for the rest of its life by the provider's clock if that disagrees")
  func disagrees() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    let waiting = session.asks(.token(minValidity: nil))
    session.isTold(.sample + .seconds(600))
    #expect(session.answer(to: waiting)?.isToken == true)
    #expect(session.snapshot.token?.remaining(at: session.now) == .seconds(3000))
    session.steps(.seconds(-7200))
    #expect(session.snapshot.token?.remaining(at: session.now) == .seconds(3000), "it follows the clock from then on")
    session.passes(.seconds(3000))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.noRefreshToken))
  }

  @Test("a provider whose clock is years behind does not extend a token beyond its lifetime")
  func providerFarBehind() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    session.isTold(.sample - .seconds(400_000_000))
    #expect(session.snapshot.token?.remaining(at: session.now) == .seconds(3600))
    session.passes(.seconds(3600))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.noRefreshToken))
  }

  @Test("an answer about the time that may be as old as a sleep is ignored, and the time is asked for again")
  func sleptThroughTheTime() {
    var session = started(ahead: .seconds(7200), with: unrenewable)
    session.passes(.seconds(86_400))
    session.isTold(.sample + .seconds(600))
    #expect(session.state == .authenticated && session.token == nil)
    session.comesDue()
    #expect(isAskingForTheTime(session))
  }

  // MARK: - Across a restart

  @Test("after a start with the clock set back, an expired token stays expired and a valid one lasts no longer")
  func setBackBetween() {
    for step in [Duration.seconds(-1800), .seconds(-86_400)] {
      for credential in [unrenewable, .sample(1, issuedAt: .sample)] {
        let dead = restarted(credential, step: step, after: .seconds(3600))
        #expect(dead.token == nil && dead.state == .authenticated && dead.attempts.count == 1)
        #expect(dead.snapshot.token?.health(at: dead.now) == .expired)
        #expect(isAskingForTheTime(dead) == (credential.grant.refreshToken == nil))
        let living = restarted(credential, step: step, after: .seconds(600))
        #expect(living.token == .sample(1) && living.snapshot.token?.remaining(at: living.now) == .seconds(3000))
      }
    }
  }

  @Test("the clock step known at the start also applies after a lock, with the steps since")
  func lockedAtStart() {
    let clockStep = ClockStep(token: Token.sample(1).fingerprint, step: .seconds(-1200))
    var session = SessionScript(
      remembered: RememberedAccount(lockedByUser: true, clockStep: clockStep), at: .sample + .seconds(1800))
    session.steps(.seconds(-1200))
    session.take(.unlocked(.user))
    session.reads(.found(unrenewable))
    #expect(session.snapshot.token?.remaining(at: session.now) == .seconds(600))
  }

  @Test("a clock set ahead and back does not revive a token after a reboot, when it may have been wrong all along")
  func setAheadAndBack() {
    let clockStep = ClockStep(token: Token.sample(1).fingerprint, step: .zero, isKnown: false)
    var session = SessionScript(
      remembered: RememberedAccount(lockedByUser: true, clockStep: clockStep), at: .sample + .seconds(600))
    session.steps(.seconds(7200))
    session.take(.unlocked(.user))
    session.reads(.found(unrenewable))
    session.steps(.seconds(-7200))
    #expect(session.token == nil)
  }

  @Test("after a start with the clock set ahead, a token ends only if the provider agrees; other grants are unaffected")
  func setAheadBetween() {
    let ahead = restarted(unrenewable, step: .seconds(7200), after: .seconds(600))
    #expect(ahead.token == nil && ahead.state == .authenticated && isAskingForTheTime(ahead))
    let other = ClockStep(token: Token.sample(7).fingerprint, step: .seconds(-7200))
    var session = SessionScript(remembered: RememberedAccount(clockStep: other))
    session.reads(.found(unrenewable))
    #expect(session.snapshot.token?.remaining(at: session.now) == .seconds(3600))
  }

  // MARK: - Steps

  @Test("a clock set back neither revives a dead token nor extends a living one")
  func setBack() {
    let brief = Credential.sample(1, issuedAt: .sample, lifetime: .seconds(8))
    var session = SessionScript.holding(brief, SessionSettings())
    session.passes(.seconds(9))
    session.fails(.unreachable(message: "no route"))
    session.steps(.seconds(-3600))
    #expect(session.token == nil)
    #expect(session.snapshot.token?.remaining(at: session.now) == .zero)

    var living = SessionScript.holding()
    living.passes(.seconds(600))
    living.steps(.seconds(-3600))
    #expect(living.snapshot.token?.remaining(at: living.now) == .seconds(3000))
  }

  @Test("a clock that was behind at the start, and is corrected, shows that a read token has expired")
  func behindAtBoot() {
    var session = started(ahead: .seconds(10), with: .sample(1, issuedAt: .sample))
    #expect(session.token == .sample(1))
    session.steps(.seconds(86_400))
    #expect(session.token == nil && session.attempts.count == 1)
  }

  @Test("a clock a little behind at the start does not make a read token due after its expiry")
  func aLittleBehindAtBoot() {
    let due = [Duration.zero, .seconds(59)].map { behind in
      var session = started(ahead: .zero, with: .sample(1, issuedAt: .sample + behind))
      session.comesDue()
      return session.now
    }
    #expect(due[0] == due[1])
  }

  @Test("a read grant is written with its own times, whatever the clock was set to since")
  func writtenAsRead() {
    var session = SessionScript.holding(.sample(1, subject: nil, issuedAt: .sample, isRenewable: false))
    session.steps(.seconds(-7200))
    session.isIdentified(as: .sample)
    #expect(session.effects == [.write(unrenewable, generation: 0)])
  }
}
