import HearthCore
import TestSupport
import Testing

@Suite("A session and its calls")
struct CallTests {
  private func token(_ credential: Credential) -> SessionResponse { .token(credential) }
  private let first = Credential.sample(1, issuedAt: .sample)

  // MARK: - Tokens

  @Test("gives a token that is valid long enough at once")
  func givesAtOnce() {
    var session = SessionScript.holding()
    #expect(session.answer(asking: .token(minValidity: nil)) == .token(first))
    #expect(session.answer(asking: .token(minValidity: .seconds(3000))) == .token(first))
  }

  @Test("waits for one refresh for all calls that need a longer validity")
  func awaitsOneRefresh() {
    var session = SessionScript.holding()
    session.passes(.seconds(2000))
    let ids = (0..<20).map { _ in session.asks(.token(minValidity: .seconds(3000))) }
    #expect(session.attempts.count == 1)
    #expect(ids.allSatisfy { session.answer(to: $0) == nil })
    session.isGranted(.sample(2))
    #expect(ids.allSatisfy { session.answer(to: $0) == nil })
    session.writes()
    #expect(ids.allSatisfy { session.answer(to: $0) == .token(.sample(2, issuedAt: session.now)) })
  }

  @Test("treats a wish for more than lifetime minus margin as a wish for exactly that")
  func effectiveMinimum() {
    var session = SessionScript.holding()
    #expect(session.answer(asking: .token(minValidity: .seconds(100_000))) == .token(first))
    session.passes(.seconds(1))
    #expect(session.answer(asking: .token(minValidity: .seconds(3300))) == .token(first))
    session.passes(.seconds(300))
    #expect(session.answer(asking: .token(minValidity: .seconds(100_000))) == nil)
    #expect(session.attempts.count == 1)
  }

  @Test("gives the token of a refresh, even if it is valid for less than the call asked")
  func givesWhatItGot() {
    var session = SessionScript.holding()
    session.passes(.seconds(3400))
    let id = session.asks(.token(minValidity: .seconds(1000)))
    session.isGranted(.sample(2, lifetime: .seconds(10)))
    session.writes()
    #expect(session.answer(to: id) == .token(.sample(2, issuedAt: session.now, lifetime: .seconds(10))))
  }

  @Test("never makes a caller with a still valid token wait for a refresh in flight")
  func doesNotWaitInFlight() {
    var session = SessionScript.holding()
    session.comesDue()
    #expect(session.snapshot.isRefreshing)
    session.passes(.seconds(280))
    #expect(session.answer(asking: .token(minValidity: nil)) == .token(first))
    #expect(session.answer(asking: .token(minValidity: .seconds(5))) == .token(first))
  }

  @Test("falls back to a token that is still valid if a refresh fails and no validity was asked for")
  func fallsBack() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), seed: 5)
    session.comesDue()
    session.fails(.unavailable(message: "503", retryAfter: .seconds(3600)))
    session.passes(.sample + .seconds(3590) - session.now)
    #expect(session.answer(asking: .token(minValidity: nil)) == .token(first))
    guard let failure = session.answer(asking: .token(minValidity: .seconds(60)))?.failure,
      failure.kind == .refreshUnavailable, failure.message == "503", let wait = failure.retryAfter
    else {
      Issue.record("a validity that cannot be had was not refused")
      return
    }
    #expect(wait > .zero && wait <= .seconds(3600))
  }

  @Test("says when to ask again if a needed refresh fails")
  func saysWhenToAskAgain() {
    var session = SessionScript.holding()
    session.passes(.seconds(3601))
    let id = session.asks(.token(minValidity: nil))
    session.fails(.unavailable(message: "503", retryAfter: .seconds(20)))
    #expect(session.answer(to: id) == session.unavailable("503", retryAfter: .seconds(20)))
    session.passes(.seconds(5))
    let later = session.asks(.token(minValidity: nil))
    #expect(session.answer(to: later) == session.unavailable("503", retryAfter: .seconds(15)))
  }

  @Test("waits at most two seconds for a credential that is being read")
  func hydrationTimeout() {
    var session = SessionScript()
    let id = session.asks(.token(minValidity: nil))
    session.passes(.milliseconds(1999))
    #expect(session.answer(to: id) == nil)
    session.wakes()
    #expect(session.now == .sample + .seconds(2))
    #expect(session.answer(to: id) == session.rejection(in: .hydrating))
    let lucky = session.asks(.token(minValidity: nil))
    session.passes(.seconds(1))
    session.reads(.found(first))
    #expect(session.answer(to: lucky) == .token(first))
  }

  @Test("says at once if there is no session")
  func noSession() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    let refusal = session.rejection(in: .unauthenticated(signedOut: false))
    #expect(session.answer(asking: .token(minValidity: nil)) == refusal)
    #expect(session.answer(asking: .refresh) == refusal)
  }

  @Test("answers all calls in time, even if the provider never answers")
  func deadlines() {
    var session = SessionScript.holding()
    session.passes(.seconds(3601))
    let ids = [session.asks(.token(minValidity: nil)), session.asks(.refresh), session.asks(.awaitReading)]
    let asked = session.now
    while ids.contains(where: { session.answer(to: $0) == nil }), session.wakes() {}
    #expect(session.now - asked <= .seconds(70))
    #expect(ids.allSatisfy { session.answer(to: $0) != nil })
  }

  @Test("gives the still valid token at the deadline if no validity was asked for")
  func fallsBackAtTheDeadline() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, lifetime: .seconds(3600)))
    session.comesDue()
    session.isGranted(.sample(2, lifetime: .seconds(3600)))
    let id = session.asks(.token(minValidity: .seconds(3000)))
    session.passes(.seconds(70))
    #expect(session.answer(to: id) == session.unavailable("The provider did not respond."))
  }

  @Test("does not answer later because a clock is set back")
  func deadlineWhenTheClockIsSetBack() {
    var session = SessionScript.holding()
    session.passes(.seconds(3601))
    let id = session.asks(.token(minValidity: nil))
    session.now = session.now - .seconds(3600)
    session.take(.clockChanged(by: Duration.zero - .seconds(3600)))
    let set = session.now
    while session.answer(to: id) == nil, session.wakes() {}
    #expect(session.now - set <= .seconds(70))
  }

  // MARK: - A forced refresh

  @Test("answers a forced refresh when the new grant is on disk")
  func forces() {
    var session = SessionScript.holding()
    let id = session.asks(.refresh)
    session.isGranted(.sample(2))
    #expect(session.answer(to: id) == nil)
    session.writes()
    #expect(session.answer(to: id) == .done)
  }

  @Test("shortens the wait for an explicit request, but keeps a second between two requests")
  func forcesWhileWaiting() {
    var session = SessionScript.holding()
    for _ in 0..<8 {
      session.comesDue()
      session.fails(.unavailable(message: "503", retryAfter: nil))
    }
    let id = session.asks(.refresh)
    #expect(session.attempts.count == 8)
    #expect(session.answer(to: id) == nil)
    session.wakes()
    #expect(session.attempts.count == 9)
    session.fails(.unavailable(message: "503", retryAfter: nil))
    let failure = session.answer(to: id)?.failure
    #expect(failure?.kind == .refreshUnavailable && failure?.message == "503" && failure?.retryAfter != nil)
  }

  @Test("refuses a forced refresh if there is nothing to refresh with, or the file cannot be read")
  func cannotForce() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    #expect(session.answer(asking: .refresh) == session.rejection(in: .reauthRequired(.noRefreshToken)))
    var unreadable = SessionScript.holding()
    unreadable.isHinted(.unreadable(.denied))
    #expect(unreadable.answer(asking: .refresh) == unreadable.rejection(in: .locked(.accessFailure(.denied))))
  }

  @Test("tells callers of refresh that the session has ended, once that is on record")
  func endTold() {
    var session = SessionScript.holding()
    let ids = [session.asks(.refresh), session.asks(.token(minValidity: .seconds(100)))]
    #expect(session.answer(to: ids[1]) == .token(first))
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(first))
    #expect(session.answer(to: ids[0]) == nil)
    session.writesEnd()
    #expect(session.answer(to: ids[0]) == session.rejection(in: .reauthRequired(.refreshTokenRejected)))
  }

  // MARK: - A token that an API refused

  @Test("answers a refused current token with one forced refresh, shared by all reports")
  func refusedOnce() {
    var session = SessionScript.holding()
    let ids = (0..<5).map { _ in session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint))) }
    #expect(session.attempts.count == 1)
    #expect(session.events.filter { $0 == .unauthorized(APIRejection(Token.sample(1).fingerprint)) }.count == 1)
    let waiting = session.asks(.token(minValidity: nil))
    #expect((ids + [waiting]).allSatisfy { session.answer(to: $0) == nil })
    session.isGranted(.sample(2))
    session.writes()
    #expect(ids.allSatisfy { session.answer(to: $0) == .done })
    #expect(session.answer(to: waiting) == .token(.sample(2, issuedAt: session.now)))
  }

  @Test("does not give out a refused token, even if it never expires")
  func refusedAndEndless() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, lifetime: nil))
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    #expect(session.token == nil)
  }

  @Test("ends if the token that followed a refusal is refused as well")
  func refusedTwice() {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.isGranted(.sample(2))
    session.writes()
    let id = session.asks(.reportUnauthorized(APIRejection(Token.sample(2).fingerprint)))
    #expect(
      session.effects
        == [
          .writeEnd(EndRecord(reason: .rejectedByServer, at: session.now, fingerprint: Token.sample(2).fingerprint))
        ])
    #expect(session.answer(to: id) == nil)
    session.writesEnd()
    #expect(session.state == .reauthRequired(.rejectedByServer))
    #expect(session.answer(to: id) == .done)
  }

  @Test("forces no refresh, and does not end, if an API wants more than a fresh token, however often it says so")
  func challenged() {
    var session = SessionScript.holding()
    let challenge = APIRejection(Token.sample(1).fingerprint, isChallenge: true)
    for _ in 0..<3 { #expect(session.answer(asking: .reportUnauthorized(challenge)) == .done) }
    #expect(session.attempts.isEmpty && session.effects.isEmpty)
    #expect(!session.events.contains(.unauthorized(challenge)))
    #expect(session.token == .sample(1) && session.state == .authenticated)
    let endless = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    session = endless
    #expect(session.answer(asking: .reportUnauthorized(challenge)) == .done)
    #expect(session.token == .sample(1), "the token is given out as before, though nothing can renew it")
  }

  @Test("does not end if others were accepted with the refused token, however new it is")
  func refusedAlone() {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.keepsToken(after: APIRejection(Token.sample(2).fingerprint, isAcceptedElsewhere: true)) == true)
    session.passes(.seconds(2))
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated)
  }

  @Test(
    "gives out the refused token while the provider is asked for another, if others are accepted with it",
    arguments: [true, false])
  func refusedAndServed(_ isAcceptedElsewhere: Bool) {
    var session = SessionScript.holding()
    session.asks(
      .reportUnauthorized(
        APIRejection(Token.sample(1).fingerprint, isAcceptedElsewhere: isAcceptedElsewhere)))
    #expect(session.attempts.count == 1)
    #expect(session.token == (isAcceptedElsewhere ? .sample(1) : nil))
    session.fails(.unavailable(message: "503", retryAfter: nil))
    #expect(session.token == (isAcceptedElsewhere ? .sample(1) : nil))
  }

  @Test("ends if nothing can be renewed and the token is refused, unless others were accepted with it")
  func refusedAndNotRenewable() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    let alone = APIRejection(Token.sample(1).fingerprint, isAcceptedElsewhere: true)
    #expect(session.keepsToken(after: alone) == true)
    #expect(session.effects.isEmpty)
    #expect(session.token == .sample(1))
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.rejectedByServer))
  }

  @Test("reports the ID token if that is the bearer, and recognizes it after a restart")
  func refusedIDToken() {
    func grant(_ number: Int) -> Credential {
      var credential = Credential.sample(number, issuedAt: .sample)
      credential.grant.idToken = .sample(number + 5000)
      return credential
    }
    let settings = SessionSettings(bearer: .idToken)
    var session = SessionScript.holding(grant(1), settings)
    session.asks(.reportUnauthorized(APIRejection(Token.sample(5001).fingerprint)))
    session.isGranted(
      TokenResponse(accessToken: .sample(2), idToken: .sample(5002), lifetime: .seconds(60), origin: .sample))
    session.writes()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(5002).fingerprint)))
    guard case .writeEnd(let end)? = session.effects.first else {
      Issue.record("the session goes on")
      return
    }
    var restarted = SessionScript(settings, remembered: RememberedAccount(end: end))
    restarted.reads(.found(grant(2)))
    #expect(restarted.effects == [.writeEnd(end)])
  }

  @Test("ignores the refusal of an older token")
  func refusedOld() {
    var session = SessionScript.holding()
    session.refreshes(to: 2)
    let id = session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    #expect(session.answer(to: id) == .done)
    #expect(session.attempts.count == 1)
    #expect(session.token == .sample(2))
  }

  @Test("asks the provider again if a token is refused long after its issue")
  func refusedLater() {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.isGranted(.sample(2))
    session.writes()
    session.passes(.seconds(2000))
    session.asks(.reportUnauthorized(APIRejection(Token.sample(2).fingerprint)))
    #expect(session.attempts.count == 2)
    #expect(session.state == .authenticated)
  }

  @Test("sends nothing for a refusal while it waits after a failure, and does not end")
  func refusedWhileWaiting() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unavailable(message: "503", retryAfter: .seconds(60)))
    let id = session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    #expect(session.answer(to: id) == .done)
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated)
  }

  @Test("drops a refusal if another program's grant came in between, and refreshes nothing for it")
  func refusedAndReplaced() {
    var session = SessionScript.holding()
    session.refreshes(to: 2)
    let id = session.asks(.reportUnauthorized(APIRejection(Token.sample(2).fingerprint)))
    session.isHinted(.found(.sample(7, issuedAt: session.now)))
    #expect(session.answer(to: id) == .done)
    session.passes(.seconds(2))
    #expect(session.attempts.count == 1)
  }

  // MARK: - Looking

  @Test("answers rehydrate after a read that began after it")
  func rehydrates() {
    var session = SessionScript.holding()
    session.take(.credentialHinted)
    let id = session.asks(.rehydrate)
    session.reads(.found(first))
    #expect(session.answer(to: id) == nil)
    #expect(session.effects == [.read])
    session.reads(.found(first))
    #expect(session.answer(to: id) == .done)
  }

  @Test("answers settle once the credential has been read, or at once if it was")
  func settles() {
    var session = SessionScript()
    let id = session.asks(.awaitReading)
    #expect(session.answer(to: id) == nil)
    session.reads(.neverSignedIn)
    #expect(session.answer(to: id) == .done)
    #expect(session.answer(asking: .awaitReading) == .done)
  }
}
