import HearthCore
import TestSupport
import Testing

@Suite("What a session plans and publishes, and when it does nothing")
struct PlanTests {
  private let grant = Credential.sample(1, issuedAt: .sample)

  @Test("publishes once that a token will expire because refreshing keeps failing, before it does")
  func publishesExpiry() throws {
    var session = SessionScript.holding()
    while session.now < .sample + .seconds(3590) {
      session.wakes()
      if session.snapshot.isRefreshing { session.fails(.unavailable(message: "503", retryAfter: nil)) }
    }
    let expiry = SessionEvent.expiring(at: .sample + .seconds(3600), final: false)
    #expect(session.events.filter { $0 == expiry }.count == 1)
  }

  @Test("retries a failed refresh as announced, even if it was requested long before it was due")
  func triesAgainAsSaid() {
    var session = SessionScript.holding()
    let call = session.asks(.refresh)
    session.fails(.unavailable(message: "503", retryAfter: .seconds(7)))
    guard let wait = session.answer(to: call)?.failure?.retryAfter else {
      Issue.record("no wait was told")
      return
    }
    #expect(session.snapshot.nextAttemptAt == session.now + wait)
    session.comesDue()
    #expect(session.attempts.count == 2)
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.snapshot.nextAttemptAt.map { $0 - session.now > .seconds(3000) } == true)
  }

  @Test("asks for the passphrase that is needed to seal anything, and refreshes once it is there")
  func needsThePassphrase() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.ends(.notAsked(.sealed))
    session.reads(.found(grant))
    #expect(session.state == .authenticated && session.snapshot.action == .unlock)
    #expect(session.snapshot.message.contains("hearthctl unlock work"))
    session.passes(.milliseconds(1))
    session.asks(.refresh)
    session.take(.unlocked(.user))
    session.passes(RefreshSettings.leastGap)
    #expect(session.attempts.count == 2)
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.snapshot.action == nil)
  }

  @Test("counts a file that waits for its passphrase as readable, under a lock before and after a restart")
  func sealedIsReadable() {
    var session = SessionScript(remembered: RememberedAccount(lockedByUser: true))
    session.reads(.unreadable(.sealed))
    #expect(session.state == .locked(.explicit(.user)) && session.snapshot.isReadable)
    session.isHinted(.unreadable(.denied))
    #expect(!session.snapshot.isReadable)
  }

  @Test("says that a sign-in is needed if no refresh can ever give the validity that a call asks for")
  func nothingToRefreshWith() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    let answer = session.rejection(in: .reauthRequired(.noRefreshToken))
    #expect(session.answer(asking: .refresh) == answer)
    session.passes(.seconds(3000))
    #expect(session.answer(asking: .token(minValidity: .seconds(1000))) == answer)
    #expect(session.token == .sample(1), "what is held is served")
  }

  @Test("publishes that no refresh can prevent a token's expiry")
  func publishesTheFinalExpiry() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    session.wakes()
    #expect(session.now == .sample + .seconds(3300))
    #expect(session.actions == [.publish(.expiring(at: .sample + .seconds(3600), final: true))])
  }

  @Test("publishes no expiry of a token that is refreshed in time")
  func publishesNothing() {
    var session = SessionScript.holding()
    session.comesDue()
    session.passes(.seconds(200))
    session.isGranted(.sample(2))
    session.writes()
    #expect(!session.events.contains { if case .expiring = $0 { true } else { false } })
  }

  @Test("publishes an expiry while the file cannot be read or written")
  func publishesExpiryWhileUnreadable() {
    var session = SessionScript.holding()
    session.isHinted(.unreadable(.denied))
    while session.state == .authenticated {
      session.wakes()
      if session.effects.contains(.read) { session.reads(.unreadable(.denied)) }
    }
    #expect(session.events.contains(.expiring(at: .sample + .seconds(3600), final: false)))
  }

  @Test("does not end when a token expires while its file cannot be read, which may hold another one")
  func runsOutUnreadable() {
    var session = SessionScript.signedIn(.sample(1, issuedAt: .sample, isRenewable: false))
    session.isHinted(.unreadable(.denied))
    session.passes(.seconds(3600))
    #expect(session.state == .locked(.accessFailure(.denied)))
    #expect(session.effects == [.read])
  }

  @Test("counts a token that an API has rejected, and that is withheld, as expired while no other one comes")
  func rejectedHealth() throws {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.fails(.unreachable(message: "no route"))
    let life = try #require(session.snapshot.token)
    #expect(session.token == nil && session.state == .authenticated)
    #expect(life.health(at: session.now) == .expired && life.remaining(at: session.now) == .zero)
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.snapshot.token?.health(at: session.now) == .fresh)
  }

  @Test("reports health as fresh, expiring inside the margin, and expired")
  func health() throws {
    var session = SessionScript.holding()
    let life = try #require(session.snapshot.token)
    #expect(life.health(at: .sample) == .fresh)
    #expect(life.health(at: .sample + .seconds(3299)) == .fresh)
    #expect(life.health(at: .sample + .seconds(3300)) == .expiring)
    #expect(life.health(at: .sample + .seconds(3600)) == .expired)
    session.take(.locked(.user))
    #expect(session.snapshot.token == nil)
  }

  @Test("does the same when it is woken twice, early or without a reason")
  func idempotent() {
    var session = SessionScript.holding()
    for _ in 0..<5 {
      session.take(.woke)
      #expect(session.actions.isEmpty)
    }
    session.comesDue()
    for event in [SessionInput.woke, .clockChanged(by: .zero), .woke] {
      session.take(event)
      #expect(session.actions.isEmpty)
    }
    session.isGranted(.sample(2))
    session.take(.woke)
    #expect(session.actions.isEmpty)
    session.writes()
    session.take(.woke)
    #expect(session.actions.isEmpty)
  }

  @Test("ignores results that are no longer expected")
  func ignoresTheLate() {
    var session = SessionScript.holding()
    let before = session.machine.credentialState
    session.take(.credentialRead(.found(grant)))
    session.take(.identified(generation: 7, .sample))
    session.take(.refreshEnded(generation: 7, .failed(.unavailable(message: "late", retryAfter: nil))))
    session.take(.refreshEnded(generation: 0, .failed(.unavailable(message: "late", retryAfter: nil))))
    #expect(session.machine.credentialState == before)
    #expect(session.effects.isEmpty)
  }

  @Test("makes a new plan at once after the machine slept past the old one")
  func sleptPastIt() {
    var session = SessionScript.holding()
    session.now = .sample + .seconds(86_400)
    session.take(.clockChanged(by: .zero))
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated)
  }

  @Test("names a next time in the future, or none, in every state")
  func wakesInTheFuture() {
    var session = SessionScript.holding()
    for step in 0..<400 {
      if let next = session.nextWake {
        #expect(next > session.now, "step \(step)")
      } else {
        #expect(session.snapshot.isRefreshing)
      }
      guard session.wakes() else {
        session.isGranted(.sample(step + 2))
        session.writes()
        continue
      }
      if session.snapshot.isRefreshing, step % 3 != 0 { session.fails(.unavailable(message: "503", retryAfter: nil)) }
    }
  }

  // MARK: - Shutdown

  @Test("lets a refresh finish before it rests, and begins none")
  func landsAtShutdown() {
    var session = SessionScript.holding()
    session.comesDue()
    let waiting = session.asks(.refresh)
    session.take(.stopping)
    #expect(!session.machine.isAtRest)
    #expect(session.answer(asking: .refresh) == .rejected(.shuttingDown))
    #expect(session.answer(asking: .token(minValidity: nil))?.isToken == true, "what is there is still given")
    session.isGranted(.sample(2))
    #expect(!session.machine.isAtRest)
    session.writes()
    #expect(session.machine.isAtRest)
    #expect(session.answer(to: waiting) == .done)
    session.passes(.seconds(10_000))
    #expect(session.attempts.count == 1)
  }

  @Test("answers callers that wait for something that will not come any more")
  func answersAtShutdown() {
    var session = SessionScript()
    let hydrating = session.asks(.token(minValidity: nil))
    session.take(.stopping)
    #expect(session.answer(to: hydrating) == .rejected(.shuttingDown))

    var active = SessionScript.holding()
    active.refreshes(to: 2)
    let early = active.asks(.refresh)
    #expect(active.attempts.count == 1)
    active.take(.stopping)
    #expect(active.answer(to: early) == .rejected(.shuttingDown))
    #expect(active.machine.isAtRest)
  }

  @Test("writes an end before it rests")
  func endsBeforeShutdown() {
    var session = SessionScript.holding()
    session.comesDue()
    session.take(.stopping)
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    #expect(!session.machine.isAtRest)
    session.reads(.found(grant))
    #expect(!session.machine.isAtRest)
    session.writesEnd()
    #expect(session.machine.isAtRest)
  }

  @Test("plans nothing for a token that never expires")
  func neverExpires() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, lifetime: nil))
    #expect(session.nextWake == nil)
    session.passes(.seconds(1_000_000))
    #expect(session.token == .sample(1))
    session.refreshes(to: 2)
    #expect(session.token == .sample(2))
  }

  @Test("assumes a lifetime of an hour if an answer has none, and refreshes before that")
  func assumedLifetime() {
    var session = SessionScript.holding()
    session.comesDue()
    session.isGranted(TokenResponse(accessToken: .sample(2), lifetime: nil, origin: .sample))
    session.writes()
    #expect(session.snapshot.token?.expiresAt == session.now + .seconds(3600))
    let granted = session.now
    session.comesDue()
    #expect(session.attempts.count == 2 && session.now < granted + .seconds(3600))
  }

  @Test("assumes no lifetime for an answer without one if nothing can renew the token")
  func noAssumedLifetime() {
    let response = TokenResponse(accessToken: .sample(2), lifetime: nil, origin: .sample)
    #expect(Grant(response, after: nil, bearer: .accessToken, receivedAt: .sample).expiresAt == nil)
  }
}
