import HearthCore
import TestSupport
import Testing

@Suite("The grant of an import or a sign-in, until it is written")
struct IncomingGrantTests {
  private let lost = SignInFailure.refresh(.unanswered(message: "reset"))

  /// An import of a refresh token alone.
  private func importing(_ session: inout SessionScript) -> CallID {
    session.asks(.adopt(.sample(7, subject: nil, issuedAt: session.now), isCounted: false))
  }

  @Test("is asked for again at once if the reply was lost, and only once")
  func lostReply() {
    var session = SessionScript.holding()
    let id = importing(&session)
    #expect(session.effects == [.makeRoom(id)])
    for _ in 0..<2 {
      #expect(session.answer(to: id) == nil)
      session.take(.roomMade(id, .success(())))
      #expect(session.effects == [.obtain(id)])
      session.take(.obtained(id, .failure(lost)))
    }
    #expect(session.effects.isEmpty && session.answer(to: id) == .rejected(Failure(lost, .sample)))
    #expect(session.token == .sample(1) && session.machine.isAtRest)
  }

  @Test("is not asked for again if no connection was made, or if a sign-out supersedes it")
  func notAgain() {
    var session = SessionScript.holding()
    let id = importing(&session)
    let unreachable = SignInFailure.refresh(.unreachable(message: "no route"))
    session.take(.roomMade(id, .success(())))
    session.take(.obtained(id, .failure(unreachable)))
    #expect(session.effects.isEmpty && session.answer(to: id) == .rejected(Failure(unreachable, .sample)))
    let superseded = importing(&session)
    session.take(.roomMade(superseded, .success(())))
    session.asks(.signOut(revoke: false))
    #expect(session.answer(to: superseded) == .rejected(.superseded(.sample)))
    session.take(.obtained(superseded, .failure(lost)))
    #expect(session.effects.isEmpty && session.answers[superseded]?.count == 1)
  }

  @Test("is not used, and is revoked, if the account was locked meanwhile, unless it replaces what is locked")
  func locked() {
    for replacesLocked in [true, false] {
      var session = SessionScript.holding()
      let id = session.signsIn(replacesLocked: replacesLocked)
      session.take(.locked(.user))
      session.notesLock()
      session.brings(.sample(5, issuedAt: session.now), to: id)
      let isRevoked = session.effects.contains(.revoke(.sample(5, issuedAt: session.now)))
      #expect(isRevoked == !replacesLocked)
      #expect(session.answer(to: id) == (replacesLocked ? nil : session.rejection(in: .locked(.explicit(.user)))))
      #expect(session.machine.isAtRest == !replacesLocked)
    }
    var locked = SessionScript.holding()
    locked.take(.locked(.user))
    let id = locked.signsIn(replacesLocked: false)
    #expect(locked.effects.isEmpty && locked.answer(to: id) == locked.rejection(in: .locked(.explicit(.user))))
  }

  @Test("is revoked if the sign-in was given up, or if its ID token is refused, and the session stays")
  func unwanted() {
    var session = SessionScript.holding()
    let granted = Credential.sample(5, issuedAt: session.now)
    let id = session.signsIn()
    session.take(.obtained(id, .success(.granted(TokenResponse(granted, at: session.now)))))
    #expect(session.effects == [.complete(id, granted)])
    session.take(.signInInterrupted(id, .signInCancelled(.sample)))
    #expect(session.effects.isEmpty && session.answer(to: id) == .rejected(.signInCancelled(.sample)))
    session.take(.completed(id, granted))
    #expect(session.effects == [.revoke(granted)] && session.answers[id]?.count == 1)
    let other = session.signsIn()
    let response = TokenResponse(granted, at: session.now)
    session.take(.obtained(other, .failure(.unusable(response, message: "It is for another client."))))
    let told = Failure(.signInFailed, "It is for another client.", account: .sample)
    #expect(session.effects == [.revoke(granted)] && session.answer(to: other) == .rejected(told))
    #expect(session.token == .sample(1))
  }

  @Test("is not asked for without room, and an imported grant is not revoked")
  func noRoom() {
    var session = SessionScript.holding()
    let id = importing(&session)
    session.take(.roomMade(id, .failure(.full)))
    #expect(session.effects.isEmpty && session.answer(to: id) == .rejected(Failure(.full, .sample)))
  }

  @Test("is not asked for any more if room is made too late")
  func lateRoom() {
    var session = SessionScript.holding()
    let id = importing(&session)
    let limit = session.machine.settings.refresh.requestTimeout * 2 + .seconds(10)
    session.passes(limit - .seconds(1))
    #expect(session.answer(to: id) == nil && session.machine.nextWake(after: session.now) == session.now + .seconds(1))
    session.passes(.seconds(1))
    let silent = AccessFailure(.storageError, detail: "the storage did not respond in time")
    #expect(session.answer(to: id) == .rejected(Failure(silent, .sample)) && session.machine.isAtRest)
    session.take(.roomMade(id, .success(())))
    #expect(session.effects.isEmpty && session.answers[id]?.count == 1)
  }

  @Test("answers the calls that wait for a refresh of the earlier one, once a provider has granted it")
  func waitingCalls() {
    for isSignIn in [true, false] {
      var session = SessionScript.holding()
      session.passes(RefreshSettings.leastGap)
      let refresh = session.asks(.refresh)
      let next = Credential.sample(5, issuedAt: session.now)
      if isSignIn { session.signsIn(with: next) } else { session.imports(next) }
      session.writes()
      #expect(session.answer(to: refresh) == (isSignIn ? .done : nil))
      session.isGranted(.sample(2))
      session.passes(RefreshSettings.leastGap)
      #expect(session.attempts.count == (isSignIn ? 1 : 2), "an imported grant has not been tried yet")
      session.isGranted(.sample(6))
      session.writes()
      #expect(session.answer(to: refresh) == .done)
    }
  }

  @Test("is not asked for if it is superseded before there is room")
  func supersededBeforeRoom() {
    var session = SessionScript.holding()
    let id = importing(&session)
    session.asks(.signOut(revoke: false))
    #expect(session.answer(to: id) == .rejected(.superseded(.sample)))
    session.take(.roomMade(id, .success(())))
    #expect(session.effects.isEmpty && session.answers[id]?.count == 1)
  }

  @Test("keeps its length if the clock is set before it is written, and a time that its token names stays as it is")
  func clockStep() {
    for isCounted in [true, false] {
      var session = SessionScript()
      session.reads(.neverSignedIn)
      let imported = Credential.sample(7, issuedAt: session.now)
      let id = session.asks(.adopt(imported, isCounted: isCounted))
      session.take(.roomMade(id, .success(())))
      session.take(.obtained(id, .success(nil)))
      session.steps(.seconds(600))
      session.take(.completed(id, imported))
      session.writes()
      #expect(session.snapshot.token?.expiresAt == imported.grant.issuedAt + .seconds(isCounted ? 4200 : 3600))
    }
  }

  @Test("lands before the session stops, and none is asked for after that")
  func stopping() {
    var session = SessionScript.holding()
    let id = session.signsIn()
    session.take(.stopping)
    #expect(!session.machine.isAtRest)
    session.brings(.sample(5, issuedAt: session.now), to: id)
    session.writes()
    #expect(session.answer(to: id) == .done && session.machine.isAtRest)
    let late = session.signsIn()
    #expect(session.answer(to: late) == .rejected(.shuttingDown) && session.effects.isEmpty)
  }
}
