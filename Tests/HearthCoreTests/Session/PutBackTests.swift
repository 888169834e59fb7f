import HearthCore
import TestSupport
import Testing

@Suite("A former grant of the session that a backup or a sync program puts back")
struct PutBackTests {
  private let old = Credential.sample(1, issuedAt: .sample)

  /// Holds grant 2, which came after `old`.
  private func refreshed() -> SessionScript {
    var session = SessionScript.holding(old)
    session.refreshes(to: 2)
    return session
  }

  private func isWritten(_ number: Int, by session: SessionScript) -> Bool {
    session.effects.contains {
      if case .write(let written, _) = $0 { written.grant.accessToken == .sample(number) } else { false }
    }
  }

  @Test("does not replace the later one, which is kept, written again and refreshed")
  func held() {
    var session = refreshed()
    let generation = session.machine.epoch
    session.isHinted(.found(old, .former))
    #expect(session.token == .sample(2) && isWritten(2, by: session) && session.machine.epoch == generation)
    session.writes()
    #expect(session.machine.isAtRest && session.effects.isEmpty)
    session.comesDue()
    guard case .refresh(let sent, _)? = session.effects.last else {
      Issue.record("it is not refreshed")
      return
    }
    #expect(sent.grant.refreshToken == .sample(1002))
  }

  @Test("is not sent if it is put back while a refresh is under way or its answer is being written")
  func underWay() {
    var session = refreshed()
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.isHinted(.found(old, .former))
    session.isGranted(.sample(3))
    session.isHinted(.found(old, .former))
    session.writes()
    session.isHinted(.found(old, .former))
    session.reads(.found(old, .former))
    #expect(session.token == .sample(3) && isWritten(3, by: session))
  }

  @Test(
    "does not help if it has the refused refresh token with another access token",
    arguments: zip(
      [RefreshFailure.Rejection.refreshToken, .accountDisabled], [EndReason.refreshTokenRejected, .accountDisabled]))
  func sameRefreshToken(_ rejection: RefreshFailure.Rejection, _ reason: EndReason) {
    var session = SessionScript.holding(old)
    session.asks(.refresh)
    session.fails(.rejected(rejection, message: "invalid_grant"))
    var copy = old
    copy.grant.accessToken = .sample(7)
    session.reads(.found(copy))
    session.writesEnd()
    #expect(session.state == .reauthRequired(reason) && session.attempts.count == 1)
  }

  @Test("does not replace a sign-in that still has to be written, whatever its access token")
  func unwrittenSignIn() {
    var session = SessionScript.holding(old)
    let new = Credential.sample(9, issuedAt: session.now)
    session.imports(new)
    session.writes(.full)
    var copy = old
    copy.grant.accessToken = .sample(7)
    session.reads(.found(copy))
    #expect(session.snapshot.token?.fingerprint == new.grant.accessToken.fingerprint)
    session.comesDue()
    session.writes()
    #expect(session.state == .authenticated && !session.snapshot.isWritePending)
    #expect(session.attempts.isEmpty, "the refresh token of the copy is not sent")
  }

  @Test("an end that is put back does not undo the user's sign-out, whatever the clock showed then")
  func signOutStays() {
    let refused = EndRecord(reason: .refreshTokenRejected, at: .sample + .seconds(86_400), fingerprint: nil)
    let signOut = EndRecord(reason: .signedOut, at: .sample, fingerprint: nil)
    let missing = EndRecord(reason: .credentialMissing, at: .sample, fingerprint: nil)
    #expect(signOut.prevailing(over: refused) == signOut)
    #expect(refused.prevailing(over: missing) == refused && missing.prevailing(over: refused) == refused)
  }

  @Test("does not help if the provider has rejected the later one for good")
  func refused() {
    var session = refreshed()
    session.passes(RefreshSettings.leastGap)
    session.asks(.refresh)
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(old, .former))
    session.writesEnd()
    #expect(session.state == .reauthRequired(.refreshTokenRejected) && session.attempts.count == 2)
  }

  @Test("does not end the later one, kept in memory under a lock until it is on disk again")
  func locked() {
    var session = refreshed()
    session.isHinted(.found(old, .former))
    session.take(.locked(.user))
    #expect(session.machine.credentialState != .notHeld(.locked))
    session.writes()
    #expect(session.machine.credentialState == .notHeld(.locked))
  }

  @Test("is tried if there is no later one, and stays the same grant however often it is read")
  func tried() {
    var session = SessionScript()
    session.reads(.found(old, .former))
    #expect(session.state == .authenticated && session.token == .sample(1) && session.effects.isEmpty)
    session.isHinted(.found(old, .former))
    #expect(session.effects.isEmpty && session.machine.isAtRest)
    session.refreshes(to: 3)
    #expect(session.token == .sample(3))
  }

  @Test("is distinguished from another user's, whose grant may come and go, and a thousand are remembered")
  func history() {
    var history = GrantHistory()
    history.stored(old.grant)
    history.found(Credential.sample(2, issuedAt: .sample).grant, isOfAnotherUser: true)
    #expect(!history.isFormer(old.grant))
    history.found(old.grant, isOfAnotherUser: true)
    for number in 2...1002 { history.stored(Credential.sample(number, issuedAt: .sample).grant) }
    #expect(history.former.count == 1000 && !history.isFormer(old.grant))
    #expect(history.isFormer(Credential.sample(2, issuedAt: .sample).grant))
    history.signOut([])
    #expect(history.over.count == 1000 && history.isOver(Credential.sample(1002, issuedAt: .sample).grant))
  }

  @Test("is recognized by its refresh token: if the provider keeps that, no grant has been replaced")
  func unrotated() {
    var history = GrantHistory()
    history.stored(old.grant)
    var next = Credential.sample(2, issuedAt: .sample).grant
    next.refreshToken = old.grant.refreshToken
    history.stored(next)
    #expect(!history.isFormer(old.grant))
  }
}
