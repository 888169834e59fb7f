import HearthCore
import TestSupport
import Testing

@Suite("Signing in and out of a session")
struct SignInAndOutTests {
  private let first = Credential.sample(1, issuedAt: .sample)
  private let other = Credential.sample(5, issuedAt: .sample)
  private let end = EndRecord(reason: .refreshTokenRejected, at: .sample, fingerprint: Token.sample(1001).fingerprint)

  /// Sessions in every possible state.
  private var everywhere: [SessionScript] {
    var hydrating = SessionScript()
    var signedOut = SessionScript()
    signedOut.reads(.neverSignedIn)
    var ended = SessionScript(remembered: RememberedAccount(end: end))
    ended.reads(.ended(end))
    var unreadable = SessionScript()
    unreadable.reads(.unreadable(.away))
    let held = SessionScript.holding()
    var locked = SessionScript.holding()
    locked.take(.locked(.user))
    var refreshing = SessionScript.holding()
    refreshing.comesDue()
    var storing = refreshing
    storing.isGranted(.sample(2))
    var confirming = refreshing
    confirming.fails(.rejected(.refreshToken, message: "invalid_grant"))
    var ending = confirming
    ending.reads(.found(first))
    var waiting = refreshing
    waiting.fails(.unavailable(message: "503", retryAfter: nil))
    var pending = storing
    pending.writes(.full)
    var corrupt = SessionScript()
    corrupt.reads(.corrupt("no JSON"))
    hydrating.take(.networkReturned)
    return [
      hydrating, signedOut, ended, unreadable, held, locked, refreshing, storing, confirming, ending, waiting, pending,
      corrupt,
    ]
  }

  /// Delivers all results that may still be outstanding, late and in an unfortunate order.
  private func drain(_ session: inout SessionScript) {
    session.take(.refreshEnded(generation: 0, .granted(.sample(3))))
    session.take(.identified(generation: 0, .sample))
  }

  // MARK: - Signing out

  @Test("signs out in every state, and publishes it when it is done")
  func signsOutEverywhere() {
    for var session in everywhere where session.state != .unauthenticated(signedOut: true) {
      let before = session.state
      let id = session.asks(.signOut(revoke: true))
      #expect(session.effects.contains { if case .remove = $0 { true } else { false } }, "\(before)")
      #expect(session.answer(to: id) == nil)
      #expect(session.state == before)
      drain(&session)
      session.removes()
      #expect(session.state == .unauthenticated(signedOut: true), "\(before)")
      guard case .signedOut? = session.answer(to: id) else {
        Issue.record("not answered in \(before)")
        continue
      }
      #expect(session.token == nil)
      #expect(session.events.contains { if case .signedOut = $0 { true } else { false } })
      #expect(session.attempts.count <= 1)
    }
  }

  @Test("returns the newest grant to be revoked, if that is asked for")
  func revokes() {
    var session = SessionScript.holding()
    let id = session.asks(.signOut(revoke: true))
    #expect(
      session.effects
        == [
          .remove(
            EndRecord(reason: .signedOut, at: session.now, fingerprint: nil), fingerprint: Token.sample(1).fingerprint)
        ])
    session.removes()
    #expect(session.answer(to: id) == .signedOut(revoke: [first]))

    var storing = SessionScript.holding()
    storing.asks(.refresh)
    storing.isGranted(.sample(2))
    let late = storing.asks(.signOut(revoke: true))
    storing.writes()
    storing.removes()
    #expect(storing.answer(to: late) == .signedOut(revoke: [.sample(2, issuedAt: storing.now)]))

    for revoke in [true, false] {
      var locked = SessionScript.holding()
      locked.take(.locked(.user))
      let wiped = locked.asks(.signOut(revoke: revoke))
      locked.removes(current: first)
      #expect(locked.answer(to: wiped) == .signedOut(revoke: revoke ? [first] : []), "the file knows it while locked")
    }
  }

  @Test("answers a second sign-out in the same way, and does nothing twice")
  func signsOutTwice() {
    var session = SessionScript.holding()
    let ids = [session.asks(.signOut(revoke: true)), session.asks(.signOut(revoke: true))]
    #expect(session.effects.isEmpty)
    session.removes()
    #expect(ids.allSatisfy { session.answer(to: $0) != nil })
    #expect(session.answer(asking: .signOut(revoke: true)) == .signedOut(revoke: []))
    #expect(session.effects.isEmpty)
    #expect(session.events.filter { $0 == .signedOut(.sample) }.count == 1)
  }

  @Test("publishes the end of a sign-out even if somebody signs in before it is on disk")
  func signsInMeanwhile() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: false))
    session.imports(.sample(2, issuedAt: .sample))
    session.removes()
    #expect(session.events.filter { $0 == .signedOut(.sample) }.count == 1)
  }

  @Test("has a state with one of five names, and distinguishes signed out from never signed in")
  func reasons() {
    #expect(SessionState.unauthenticated(signedOut: true).reason == "signedOut")
    #expect(SessionState.unauthenticated(signedOut: false).reason == "neverSignedIn")
    #expect(SessionState.names == ["hydrating", "authenticated", "unauthenticated", "locked", "reauthRequired"])
  }

  @Test("drops and revokes the result of a refresh after a sign-out")
  func dropsTheRefresh() {
    var session = SessionScript.holding()
    session.comesDue()
    session.asks(.signOut(revoke: true))
    session.isGranted(.sample(2))
    #expect(
      session.effects.contains { if case .revoke(let it) = $0 { it.grant.accessToken == .sample(2) } else { false } })
    #expect(!session.effects.contains { if case .write = $0 { true } else { false } })
  }

  @Test("keeps looking for a file that was out of reach at sign-out, to remove it when it comes back")
  func looksForTheFile() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: false))
    session.removes(.away)
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.snapshot.credentialError == AccessFailure.away.detail)
    for _ in 0..<20 {
      session.wakes()
      #expect(session.effects == [.read])
      session.reads(.unreadable(.away))
    }
    session.wakes()
    session.reads(.ended(EndRecord(reason: .signedOut, at: .sample, fingerprint: nil)))
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.snapshot.credentialError == nil)
    #expect(session.nextWake == nil)
  }

  @Test("removes a signed-out grant that it finds again, even if the sign-out could not be recorded")
  func removesAgain() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: false))
    session.removes(.full)
    session.wakes()
    session.reads(.found(first))
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.effects.contains { if case .remove = $0 { true } else { false } })
    session.removes()
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.nextWake == nil)
    #expect(session.events.filter { $0 == .signedOut(.sample) }.count == 1)
  }

  @Test("does not return from an unwritten sign-in to the grant that it replaced")
  func signInBeatsTheOldFile() {
    for isRestarted in [false, true] {
      var session = SessionScript(remembered: RememberedAccount(end: isRestarted ? end : nil))
      session.reads(.found(first))
      if !isRestarted {
        session.comesDue()
        session.fails(.rejected(.refreshToken, message: "invalid_grant"))
        session.reads(.found(first))
      }
      session.writesEnd(.denied)
      #expect(session.state == .reauthRequired(.refreshTokenRejected))
      session.imports(other)
      session.writes(.denied)
      session.isHinted(.found(first))
      #expect(session.token == .sample(5))
      #expect(session.effects.contains(.write(other, generation: session.machine.epoch.generation)))
    }
  }

  @Test("takes over a different grant that is found after a sign-out")
  func adoptsAfterSignOut() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: false))
    session.removes()
    session.isHinted(.found(other))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(5))
  }

  @Test("says at once that it ends with its token if the sign-in has brought no refresh token, and what helps")
  func notKept() {
    let unrenewable = Credential.sample(7, issuedAt: .sample, isRenewable: false)
    let session = SessionScript.signedIn(unrenewable)
    let message = session.snapshot.message
    #expect(message.contains("no refresh token") && message.contains("\"hearthctl login work\""))
    #expect(message.contains("\"hearthctl account set work --add scopes offline_access\""))
    #expect(session.state == .authenticated && session.snapshot.action == nil)
    let signedIn = session.events.firstIndex { $0.isSignIn }
    let end = session.events.firstIndex(of: .expiring(at: .sample + .seconds(3600), final: true))
    #expect(signedIn != nil && end == signedIn.map { $0 + 1 }, "an event says so at once, too")
    #expect(!SessionScript.signedIn().events.contains { if case .expiring = $0 { true } else { false } })
    #expect(SessionScript.signedIn().snapshot.message == "Signed in.")
  }

  @Test("does not ask sooner because it was signed out")
  func signOutKeepsTheGap() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.asks(.signOut(revoke: false))
    session.removes()
    session.fails(.unavailable(message: "503", retryAfter: nil))
    session.isHinted(.found(.sample(5, issuedAt: .sample - .seconds(3600))))
    #expect(session.attempts.count == 1)
    session.passes(RefreshSettings.leastGap)
    #expect(session.attempts.count == 2)
  }

  @Test("is signed out, not ended, when a sign-out comes while an end is being written")
  func signsOutWhileEnding() {
    var session = SessionScript.holding()
    session.isHinted(.missing("work.json is gone"))
    session.asks(.signOut(revoke: false))
    session.writesEnd()
    #expect(session.state == .authenticated)
    session.removes()
    #expect(session.state == .unauthenticated(signedOut: true))
  }

  @Test("lets a sign-out win over a sign-in that is still being written")
  func signOutBeatsSignIn() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: false))
    session.removes()
    let signIn = session.imports(other)
    let signOut = session.asks(.signOut(revoke: true))
    session.writes()
    #expect(session.token == nil)
    session.removes()
    #expect(session.state == .unauthenticated(signedOut: true))
    #expect(session.answer(to: signOut) == .signedOut(revoke: [other]))
    session.passes(.seconds(70))
    #expect(session.answer(to: signIn) != nil)
  }

  // MARK: - Signing in

  @Test("drops and revokes a grant that was superseded while the provider was asked about it")
  func overtaken() {
    for isSignOut in [true, false] {
      var session = SessionScript.holding()
      let id = session.signsIn()
      if isSignOut { session.asks(.signOut(revoke: false)) } else { session.imports(other) }
      let why = isSignOut ? Failure.signedOutMeanwhile(.sample) : .superseded(.sample)
      #expect(session.answer(to: id) == .rejected(why), "before the provider answers")
      drain(&session)
      #expect(!session.machine.isAtRest)
      session.brings(first, to: id)
      #expect(session.effects == [.revoke(first)])
    }
    var ended = SessionScript.holding()
    let id = ended.signsIn()
    ended.asks(.refresh)
    ended.fails(.rejected(.refreshToken, message: "invalid_grant"))
    drain(&ended)
    ended.brings(other, to: id)
    ended.writes()
    #expect(ended.token == .sample(5), "the end of the session before it does not overtake it")
  }

  @Test("keeps a lock that came while the provider was asked about the grant, and removes an older one")
  func lockedMeanwhile() {
    var session = SessionScript.holding()
    let id = session.signsIn()
    session.take(.locked(.user))
    drain(&session)
    session.brings(other, to: id)
    session.writes()
    #expect(session.state == .locked(.explicit(.user)))
    session.signsIn(with: other)
    session.passes(.seconds(100))
    session.writes()
    #expect(session.state == .authenticated, "though it took so long that the caller was answered")
  }

  @Test("stays locked if the user locks it while the grant of a sign-in is being written")
  func lockedWhileWritten() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    session.signsIn(with: first)
    session.take(.locked(.user))
    session.writes()
    #expect(session.state == .locked(.explicit(.user)))
  }

  @Test("signs in from every state: the grant is not visible before it is on disk, and older requests are dropped")
  func signsInEverywhere() {
    for var session in everywhere {
      let before = session.state
      let generation = session.machine.epoch.generation
      let id = session.imports(other)
      #expect(session.effects == [.write(other, generation: generation + 1)])
      #expect(session.answer(to: id) == nil)
      #expect(session.state == before)
      #expect(session.token != .sample(5))
      drain(&session)
      session.writesEnd()
      session.reads(.unreadable(.denied))
      session.setsAside(.denied)
      session.writes()
      session.take(.credentialWritten(generation: generation, .success(())))
      #expect(session.answer(to: id) == .done, "\(before)")
      #expect(session.token == .sample(5), "\(before)")
      #expect(session.state == .authenticated)
      #expect(session.events.contains(.signedIn(.sample)))
    }
  }

  @Test("keeps a sign-in that could not be written in memory, says so, and writes it when possible")
  func signInPending() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    let id = session.imports(first)
    session.writes(.full)
    #expect(session.answer(to: id) == .done)
    #expect(session.snapshot.isWritePending)
    #expect(session.token == .sample(1))
    session.isHinted(.neverSignedIn)
    #expect(session.state == .authenticated)
    while session.effects.isEmpty { session.wakes() }
    #expect(session.effects == [.write(first, generation: session.machine.epoch.generation)])
    session.writes()
    #expect(!session.snapshot.isWritePending)
  }

  @Test("removes the user's lock with a sign-in, and no other")
  func signInUnlocks() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    session.take(.locked(.screen))
    session.imports(other)
    session.writes()
    #expect(session.actions.contains(.rememberLockedByUser(false)))
    #expect(session.state == .locked(.explicit(.screen)))
    #expect(session.machine.credentialState == .notHeld(.locked))
  }

  @Test("forgets earlier failures after a sign-in")
  func forgetsFailures() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.misconfigured(message: "invalid_client"))
    session.imports(.sample(5, issuedAt: session.now))
    session.writes()
    #expect(session.snapshot.history.failures == 0)
    #expect(session.snapshot.action == nil)
  }

  @Test("asks for the owner of a grant that does not name one")
  func asksWhose() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    let nameless = Credential.sample(5, subject: nil, issuedAt: .sample)
    session.imports(nameless)
    session.writes()
    #expect(session.effects == [.identify(nameless, generation: 1)])
    session.isIdentified(as: .sample)
    session.writes()
    #expect(session.snapshot.subject == .sample)
    #expect(session.machine.isAtRest)
  }

  @Test("answers each caller honestly if the disk never answers")
  func hungDisk() {
    var session = SessionScript.holding()
    let id = session.asks(.signOut(revoke: true))
    while session.answer(to: id) == nil, session.wakes() {}
    guard session.answer(to: id)?.failure?.kind == .refreshUnavailable else {
      Issue.record("a removal that did not happen was answered as done")
      return
    }
  }
}
