import HearthCore
import TestSupport
import Testing

@Suite("An end that cannot be written anywhere")
struct EndNowhereTests {
  private let rejected = RefreshFailure.rejected(.refreshToken, message: "invalid_grant")

  /// The provider has refused, and neither the file nor accounts.json can be written.
  private func refused() -> SessionScript {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(rejected)
    session.reads(.found(.sample(1, issuedAt: .sample)))
    session.writesEnd(.full, nowhere: true)
    return session
  }

  private func isWriteEnd(_ action: SessionAction?) -> Bool {
    if case .writeEnd? = action { true } else { false }
  }

  @Test("is not published, and the refused token neither served nor sent; it is retried until one place takes it")
  func refusal() {
    var session = refused()
    #expect(session.state == .authenticated && session.snapshot.token == nil)
    #expect(session.snapshot.message.contains("cannot save that yet (\(AccessFailure.full.detail))"))
    guard let failure = session.answer(asking: .token(minValidity: nil))?.failure,
      failure.kind == .refreshUnavailable, let retryAfter = failure.retryAfter
    else {
      Issue.record("a call waits, or is served")
      return
    }
    #expect(retryAfter > .zero)
    let sent = session.attempts.count
    for _ in 0..<20 {
      let before = session.now
      session.wakes()
      #expect(session.now - before <= .seconds(30) && session.effects.count == 1 && isWriteEnd(session.effects.first))
      session.writesEnd(.full, nowhere: true)
    }
    #expect(session.attempts.count == sent && session.state == .authenticated)
    #expect(session.events.filter { $0 == .credentialPendingWrite(.full) }.count == 1)
    session.wakes()
    session.writesEnd(.full)
    #expect(session.state == .reauthRequired(.refreshTokenRejected), "one place is enough")
    #expect(session.attempts.count == sent)
  }

  @Test("does not delay a shutdown after one more try")
  func stopping() {
    var session = refused()
    session.take(.stopping)
    #expect(isWriteEnd(session.effects.first) && !session.machine.isAtRest)
    session.writesEnd(.full, nowhere: true)
    #expect(session.machine.isAtRest)
  }

  @Test("lets a call wait while its write is tried again")
  func retry() {
    var session = refused()
    session.wakes()
    let id = session.asks(.token(minValidity: nil))
    #expect(session.answer(to: id) == nil)
    session.writesEnd()
    #expect(session.answer(to: id) == session.rejection(in: .reauthRequired(.refreshTokenRejected)))
  }

  @Test("does not prevent a sign-in")
  func signIn() {
    var session = refused()
    let id = session.imports(.sample(7, issuedAt: session.now))
    session.writes()
    #expect(session.answer(to: id) == .done && session.state == .authenticated && session.token == .sample(7))
    #expect(session.nextWake.map { $0 > session.now + .seconds(60) } == true, "nothing of it is left to be done")
  }

  @Test("by the user is reported as not done, revoked at once, and completed as soon as possible")
  func signOut() {
    var session = SessionScript.holding()
    let id = session.asks(.signOut(revoke: true))
    session.removes(.away, nowhere: true)
    guard let failure = session.answer(to: id)?.failure, failure.kind == .refreshUnavailable else {
      Issue.record("it is told as done")
      return
    }
    #expect(failure.message.contains(AccessFailure.away.detail))
    #expect(session.effects == [.revokeAtOnce(.sample(1, issuedAt: .sample))])
    #expect(session.state == .authenticated && session.token == nil)
    session.wakes()
    guard case .remove(_, let mark, _)? = session.effects.first else {
      Issue.record("not tried again")
      return
    }
    #expect(mark == Token.sample(1).fingerprint)
    session.removes()
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.answer(asking: .signOut(revoke: true)) == .signedOut(revoke: []))
  }

  @Test("What a sign-out cannot reach is revoked once a later read has removed it, which the caller learns")
  func removedLater() {
    let first = Credential.sample(1, issuedAt: .sample)
    var session = SessionScript.holding(first)
    session.take(.locked(.user))
    let id = session.asks(.signOut(revoke: true))
    session.removes(.away)
    #expect(session.answer(to: id) == .signedOut(revoke: [], isComplete: false))
    let end = EndRecord(reason: .signedOut, at: session.now, fingerprint: nil)
    session.isHinted(.ended(end, removed: RemovedCredentials(current: first)))
    #expect(session.effects.filter { $0 != .lockStore } == [.revoke(first)])
    #expect(session.state == .unauthenticated(signedOut: true))
  }

  @Test("A grant that was removed without a record is revoked nevertheless")
  func removedUnrecorded() {
    let first = Credential.sample(1, issuedAt: .sample)
    var session = SessionScript.holding(first)
    session.take(.locked(.user))
    let id = session.asks(.signOut(revoke: true))
    session.take(.removed(.success(RemovedCredentials(current: first, unrecorded: .full))))
    #expect(session.answer(to: id) == .signedOut(revoke: [first]))
  }

  @Test("Grants at former places are revoked with the session's own, and the same grant only once")
  func former() {
    let (own, other) = (Credential.sample(1, issuedAt: .sample), Credential.sample(4, issuedAt: .sample))
    for (revoke, expected) in [(true, [own, other]), (false, [])] {
      var session = SessionScript.holding()
      let id = session.asks(.signOut(revoke: revoke))
      session.removes(current: own, former: [other, own])
      #expect(session.answer(to: id) == .signedOut(revoke: expected))
    }
  }
}
