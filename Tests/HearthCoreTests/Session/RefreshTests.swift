import HearthCore
import TestSupport
import Testing

@Suite("A session that refreshes")
struct RefreshTests {
  @Test("refreshes before expiry, stores the answer, and only then shows it")
  func refreshesAhead() {
    var session = SessionScript.holding()
    session.comesDue()
    #expect(session.effects == [.refresh(.sample(1, issuedAt: .sample), generation: 0)])
    #expect(session.now < .sample + .seconds(3300))
    #expect(session.snapshot.isRefreshing)
    session.isGranted(.sample(2))
    let stored = Credential.sample(2, issuedAt: session.now)
    #expect(session.effects == [.write(stored, generation: 0)])
    #expect(session.token == .sample(1))
    #expect(!session.actions.contains { if case .publish = $0 { true } else { false } })
    session.writes()
    #expect(session.token == .sample(2))
    #expect(
      session.actions.contains(
        .publish(
          .refreshed(
            Token.sample(2).fingerprint, previous: Token.sample(1).fingerprint, expiresAt: stored.grant.expiresAt))))
    #expect(session.snapshot.history.lastOutcome == .success)
  }

  @Test("keeps what an answer leaves out")
  func keepsWhatIsLeftOut() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(TokenResponse(accessToken: .sample(2), lifetime: .seconds(60), origin: .sample))
    guard case .write(let credential, _)? = session.effects.first else {
      Issue.record("nothing was written")
      return
    }
    #expect(credential.grant.refreshToken == .sample(1001))
    #expect(credential.subject == .sample)
  }

  @Test("sends only one refresh at a time, whatever happens meanwhile")
  func singleFlight() {
    var session = SessionScript.holding()
    session.comesDue()
    for _ in 0..<10 { session.asks(.refresh) }
    session.take(.networkReturned)
    session.take(.clockChanged(by: .zero))
    session.take(.configured(.obeyingEveryLock))
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.passes(.seconds(20))
    #expect(session.attempts.count == 1)
  }

  @Test("does not send a second refresh while the one for a replaced grant is still under way")
  func singleFlightAcrossGenerations() {
    var session = SessionScript.holding()
    session.comesDue()
    session.isHinted(.found(.sample(7, issuedAt: .sample - .seconds(3600))))
    session.passes(.seconds(5))
    #expect(session.attempts.count == 1)
    session.take(.refreshEnded(generation: 0, .failed(.unavailable(message: "504", retryAfter: nil))))
    #expect(session.attempts.count == 2)
    #expect(session.effects == [.refresh(.sample(7, issuedAt: .sample - .seconds(3600)), generation: 1)])
  }

  @Test("revokes nothing that comes for a grant after a newer one was read, as both may be of the same sign-in")
  func revokesNoneOfTheSameSignIn() {
    var session = SessionScript.holding()
    session.comesDue()
    session.isHinted(.found(.sample(7, issuedAt: .sample - .seconds(3600))))
    session.take(.refreshEnded(generation: 0, .granted(.sample(2))))
    #expect(!session.actions.contains { if case .revoke = $0 { true } else { false } })
  }

  @Test("repeats an unanswered request once, at once, with the same token")
  func repeatsTheLostReply() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unanswered(message: "reset"))
    #expect(session.effects == [.refresh(.sample(1, issuedAt: .sample), generation: 0)])
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.token == .sample(2))
    #expect(session.snapshot.history.failures == 0)
  }

  @Test("also waits after a lost repetition, and repeats once again next time")
  func repeatsOnlyOnce() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unanswered(message: "reset"))
    session.fails(.unanswered(message: "reset"))
    #expect(session.effects.isEmpty)
    #expect(session.snapshot.history.failures == 1)
    session.comesDue()
    session.fails(.unanswered(message: "reset"))
    #expect(session.attempts.count == 4)
  }

  @Test("believes a refusal after a lost reply, because the provider has then answered")
  func believesAfterTheLostReply() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unanswered(message: "reset"))
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
  }

  @Test(
    "ends on a final refusal: reads once more, writes the end, publishes it, and sends nothing again",
    arguments: [
      (RefreshFailure.Rejection.refreshToken, EndReason.refreshTokenRejected), (.accountDisabled, .accountDisabled),
    ])
  func isRejected(rejection: RefreshFailure.Rejection, reason: EndReason) {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.rejected(rejection, message: "invalid_grant"))
    #expect(session.effects == [.read])
    #expect(session.state == .authenticated)
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(
      session.effects
        == [.writeEnd(EndRecord(reason: reason, at: session.now, fingerprint: Token.sample(1001).fingerprint))])
    #expect(session.state == .authenticated)
    session.writesEnd()
    #expect(session.state == .reauthRequired(reason))
    #expect(session.snapshot.history.lastOutcome == .rejected)
    session.take(.networkReturned)
    session.passes(.seconds(1_000_000))
    #expect(session.attempts.count == 1)
    #expect(session.nextWake == nil)
  }

  @Test("lets a newer grant in the file win over a refusal")
  func newerGrantWins() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(.sample(9, issuedAt: session.now)))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(9))
    #expect(!session.events.contains { if case .changed(_, .reauthRequired) = $0 { true } else { false } })
  }

  @Test("believes a refusal only after a reading that began after it")
  func readsAfresh() {
    var session = SessionScript.holding()
    session.comesDue()
    session.take(.credentialHinted)
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.effects == [.read])
    session.reads(.found(.sample(9, issuedAt: session.now)))
    #expect(session.token == .sample(9))
  }

  @Test("writes the end at once if the file cannot be read, and takes over a newer grant that appears in it")
  func rejectedWhileUnreadable() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.unreadable(.away))
    session.writesEnd(.away)
    #expect(session.state == .reauthRequired(.refreshTokenRejected))
    session.wakes()
    #expect(session.effects == [.read])
    session.reads(.found(.sample(9, issuedAt: session.now)))
    #expect(session.state == .authenticated)
  }

  @Test("never ends over a 400 with an unknown reason, however often it comes, and finally asks once an hour")
  func unclearForEver() {
    var session = SessionScript.holding()
    for _ in 1...200 {
      session.comesDue()
      session.fails(.unclear(message: "400", retryAfter: nil))
      #expect(session.effects.isEmpty)
    }
    #expect(session.state == .authenticated)
    let wait = (session.snapshot.nextAttemptAt ?? session.now) - session.now
    #expect(wait >= .seconds(1800) && wait <= .seconds(3600))
  }

  @Test("keeps the session when the configuration is rejected, waits long, and says what to fix")
  func misconfigured() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.misconfigured(message: "invalid_client"))
    #expect(session.state == .authenticated)
    #expect(session.snapshot.action == .fixConfiguration)
    #expect(session.snapshot.message.contains("invalid_client"))
    #expect(session.snapshot.history.lastOutcome == .misconfigured)
    let failedAt = session.now
    session.take(.networkReturned)
    session.comesDue()
    #expect(session.attempts.count == 2)
    #expect(session.now - failedAt >= .seconds(150))
    session.fails(.misconfigured(message: "invalid_client"))
    session.passes(.seconds(2))
    session.take(.configured(.obeyingEveryLock))
    #expect(session.attempts.count == 3)
  }

  @Test(
    "treats Retry-After as a minimum that neither the network's return nor a call within ten seconds shortens")
  func retryAfterIsAFloor() {
    var session = SessionScript.holding()
    session.comesDue()
    let failedAt = session.now
    session.fails(.unavailable(message: "429", retryAfter: .seconds(40)))
    session.take(.networkReturned)
    let id = session.asks(.refresh)
    #expect(
      session.answer(to: id) == session.unavailable("429", retryAfter: .seconds(40)))
    session.comesDue()
    #expect(session.now - failedAt >= .seconds(40))
    #expect(session.attempts.count == 2)
  }

  @Test("sends an explicitly requested refresh at once, once in ten seconds, whatever the Retry-After; nothing else")
  func personDoesNotWait() {
    var session = SessionScript.holding()
    session.comesDue()
    let failure = RefreshFailure.unavailable(message: "429", retryAfter: .seconds(1_000_000_000_000))
    session.fails(failure)
    session.passes(.seconds(10))
    #expect(session.attempts.count == 1)
    session.asks(.token(minValidity: .seconds(3600)))
    #expect(session.attempts.count == 1)
    let first = session.asks(.refresh)
    #expect(session.attempts.count == 2 && session.answer(to: first) == nil)
    session.fails(failure)
    session.passes(.seconds(9))
    let early = session.asks(.refresh)
    #expect(session.attempts.count == 2)
    #expect(
      session.answer(to: early) == session.unavailable("429", retryAfter: .seconds(3591)))
    session.passes(.seconds(1))
    let second = session.asks(.refresh)
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.attempts.count == 3 && session.answer(to: second) == .done && session.token == .sample(2))
  }

  @Test("also obeys a Retry-After that is shorter than its own wait")
  func shortRetryAfter() {
    var session = SessionScript.holding()
    for _ in 0..<8 {
      session.comesDue()
      session.fails(.unavailable(message: "503", retryAfter: nil))
    }
    session.comesDue()
    let failedAt = session.now
    session.fails(.unavailable(message: "503", retryAfter: .seconds(7)))
    session.passes(.seconds(2))
    session.take(.networkReturned)
    session.asks(.refresh)
    #expect(session.attempts.count == 9)
    session.passes(.seconds(5))
    session.asks(.refresh)
    #expect(session.now - failedAt == .seconds(7))
    #expect(session.attempts.count == 10)
  }

  @Test("obeys a Retry-After for at most an hour")
  func capsRetryAfter() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.unavailable(message: "503", retryAfter: .seconds(1_000_000)))
    let next = session.snapshot.nextAttemptAt
    #expect(next.map { $0 - session.now <= .seconds(3600) } == true)
  }

  @Test(
    "leaves time between two attempts, over a thousand failures, and grows it to at least half of five minutes",
    arguments: [
      RefreshFailure.unavailable(message: "503", retryAfter: nil),
      .unavailable(message: "429", retryAfter: .zero), .unavailable(message: "429", retryAfter: .seconds(90)),
      .unanswered(message: "timeout"), .misconfigured(message: "404"), .unclear(message: "400", retryAfter: nil),
    ])
  func neverHot(failure: RefreshFailure) {
    var session = SessionScript.holding(seed: 42)
    for count in 1...1000 {
      session.comesDue()
      guard session.snapshot.isRefreshing else {
        Issue.record("stuck after \(count) failures")
        return
      }
      let begun = session.now
      session.fails(failure)
      if case .unanswered = failure { session.fails(failure) }
      let next = session.snapshot.nextAttemptAt ?? begun
      #expect(next - begun >= (count < 10 ? .milliseconds(500) : .seconds(150)), "after \(count) failures")
      #expect(next - begun <= .seconds(3600))
    }
    #expect(session.state == .authenticated)
  }

  @Test("never asks more often than once a second, whatever callers do")
  func leastGap() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, lifetime: .zero))
    var number = 1
    for _ in 0..<2000 {
      session.asks(.token(minValidity: .seconds(60)))
      session.asks(.refresh)
      session.take(.networkReturned)
      if session.snapshot.isRefreshing {
        number += 1
        session.isGranted(.sample(number, lifetime: .milliseconds(1)))
        session.writes()
      }
      session.passes(.milliseconds(50))
    }
    let gaps = zip(session.attempts, session.attempts.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 >= RefreshSettings.leastGap })
    #expect(gaps.count > 20)
  }

  @Test("asks nothing if the answer could not be stored, reads the file, and retries")
  func asksNothingWithoutRoom() {
    var session = SessionScript.holding()
    session.comesDue()
    session.ends(.notAsked(.full))
    #expect(session.effects == [.read])
    #expect(session.snapshot.history.lastError?.contains("no space left") == true)
    #expect(session.snapshot.nextAttemptAt != nil)
    #expect(session.state == .authenticated)
  }

  @Test("ends when there is nothing to refresh with and the token has expired, not before")
  func noRefreshToken() {
    var session = SessionScript.signedIn(.sample(1, issuedAt: .sample, isRenewable: false))
    session.passes(.seconds(3599))
    #expect(session.token == .sample(1))
    session.wakes()
    session.writesEnd()
    #expect(session.state == .reauthRequired(.noRefreshToken))
    #expect(session.attempts.isEmpty)
  }

  @Test("ends when both the refresh token and the access token have expired")
  func refreshTokenExpired() {
    var credential = Credential.sample(1, issuedAt: .sample)
    credential.grant.refreshExpiresAt = .sample + .seconds(1800)
    var session = SessionScript.signedIn(credential)
    session.passes(.seconds(3599))
    #expect(session.token == .sample(1))
    #expect(session.attempts.isEmpty)
    session.wakes()
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenExpired))
  }

  @Test("does not use a refresh token that has expired together with the access token")
  func refreshTokenExpiresWithIt() {
    var credential = Credential.sample(1, issuedAt: .sample)
    credential.grant.refreshExpiresAt = credential.grant.expiresAt
    var session = SessionScript.signedIn(credential)
    session.passes(.seconds(3600))
    #expect(session.attempts.isEmpty)
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenExpired))
  }

  @Test("treats a token with a lifetime of zero as already expired, and asks again after growing waits")
  func expiredOnArrival() {
    var session = SessionScript.holding()
    let waiting = session.asks(.refresh)
    session.isGranted(.sample(2, lifetime: .zero))
    session.writes()
    #expect(session.snapshot.token?.health(at: session.now) == .expired && session.token == nil)
    guard session.answer(to: waiting)?.failure?.kind == .refreshUnavailable else {
      Issue.record("\(session.answers)")
      return
    }
    for number in 3..<12 {
      session.comesDue()
      session.isGranted(.sample(number, lifetime: .zero))
      session.writes()
    }
    #expect(session.snapshot.nextAttemptAt.map { $0 - session.now > .seconds(60) } == true)
    session.comesDue()
    session.isGranted(.sample(12))
    session.writes()
    #expect(session.token == .sample(12) && session.snapshot.history.failures == 0)
  }

  @Test("renews without a refresh token if the provider allows it")
  func renewsWithout() {
    var session = SessionScript.holding(
      .sample(1, issuedAt: .sample, isRenewable: false), SessionSettings(renewsWithoutRefreshToken: true))
    session.comesDue()
    #expect(session.attempts.count == 1)
  }
}
