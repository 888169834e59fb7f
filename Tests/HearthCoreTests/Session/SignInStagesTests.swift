import HearthCore
import TestSupport
import Testing

@Suite("A session that is being signed in to")
struct SignInStagesTests {
  private let device = SignInSteps.device(ScriptedSignInEndpoint.device)
  private let browser = SignInSteps.browser(ScriptedSignInEndpoint.browser())
  private let code = Secret("x")

  private static var signedOut: SessionScript {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    return session
  }

  /// Sign-ins at every stage before their grants are written, each with its call.
  private var stages: [(session: SessionScript, id: CallID)] {
    var session = SessionScript.holding()
    let id = session.asks(.signIn(.browser))
    let room = session
    session.take(.roomMade(id, .success(())))
    let beginning = session
    session.take(.signInBegan(id, .success(browser)))
    let waiting = session
    session.asks(.redirected(id, .code(code)))
    let makingRoom = session
    session.take(.roomMade(id, .success(())))
    let asking = session
    session.take(.obtained(id, .success(.granted(TokenResponse(grant, at: session.now)))))
    return [room, beginning, waiting, makingRoom, asking, session].map { ($0, id) }
  }

  private let grant = Credential.sample(5, issuedAt: .sample)

  /// Delivers everything that a sign-in still waits for from this stage on.
  private func goOn(_ session: inout SessionScript, _ id: CallID, from stage: Int = 2) {
    if stage < 1 { session.take(.roomMade(id, .success(()))) }
    if stage < 2 { session.take(.signInBegan(id, .success(browser))) }
    if stage < 3 { session.asks(.redirected(id, .code(code))) }
    if stage < 4 { session.take(.roomMade(id, .success(()))) }
    if stage < 5 { session.take(.obtained(id, .success(.granted(TokenResponse(grant, at: session.now))))) }
    session.take(.completed(id, grant))
  }

  @Test("makes room, asks the provider, shows the page, and asks for the grant when the browser brings the code")
  func browserSignIn() {
    var session = Self.signedOut
    let id = session.asks(.signIn(.browser))
    #expect(session.effects == [.makeRoom(id)] && session.snapshot.signIn == nil)
    session.take(.roomMade(id, .success(())))
    #expect(session.effects == [.beginSignIn(id)])
    session.take(.signInBegan(id, .success(browser)))
    let progress = SignInProgress(flow: .browser, expiresAt: session.now + .seconds(600))
    #expect(session.effects == [.showSignIn(id, browser, progress)] && session.snapshot.signIn == progress)
    let page = session.asks(.redirected(id, .code(code)))
    #expect(session.effects == [.makeRoom(id)])
    session.take(.roomMade(id, .success(())))
    #expect(session.effects == [.obtain(id, code: code)])
    session.brings(grant, to: id)
    #expect(session.answer(to: id) == nil && session.answer(to: page) == nil && session.snapshot.signIn == progress)
    session.writes()
    #expect(session.answer(to: id) == .done && session.answer(to: page) == .done)
    #expect(session.state == .authenticated && session.snapshot.signIn == nil)
  }

  @Test("lands the grant at every stage if nothing comes in between, and the status shows it until then")
  func lands() {
    for (index, stage) in stages.enumerated() {
      var (session, id) = stage
      goOn(&session, id, from: index)
      #expect(session.snapshot.signIn != nil)
      session.writes()
      #expect(session.answer(to: id) == .done && session.token == .sample(5) && session.snapshot.signIn == nil)
      #expect(session.machine.isAtRest)
    }
  }

  @Test("is given up, signed out or reconfigured at every stage: one answer, and the grant that still comes is revoked")
  func interruptedAtEveryStage() {
    let reconfigured = SessionInput.configured(.obeyingEveryLock, changed: [.provider, .endpoint])
    for (index, stage) in stages.enumerated() {
      for why in [Failure.signInCancelled(.sample), .signedOutMeanwhile(.sample), .reconfigured(.sample)] {
        var (session, id) = stage
        let isSignOut = why == .signedOutMeanwhile(.sample)
        if why == .signInCancelled(.sample) { session.take(.signInInterrupted(id, why)) }
        if isSignOut { session.asks(.signOut(revoke: false)) }
        if why == .reconfigured(.sample) { session.take(reconfigured) }
        // While the provider is asked for the page, it answers first.
        #expect((session.answer(to: id) == nil) == (index < 2), "stage \(index)")
        #expect(session.snapshot.signIn == nil)
        goOn(&session, id, from: index)
        #expect(session.answer(to: id) == .rejected(why), "stage \(index)")
        #expect(session.answers[id]?.count == 1)
        let isRevoked = session.effects.contains { if case .revoke = $0 { true } else { false } }
        #expect(isRevoked == (index > 3), "stage \(index)")
        if isSignOut { session.removes() }
        #expect(session.token == (isSignOut ? nil : .sample(1)) && session.machine.isAtRest)
      }
    }
  }

  @Test("tells a sign-in that is no longer waiting from one that is, and shows a browser that comes too late so")
  func secondBrowser() {
    var session = SessionScript.holding()
    let id = session.begins()
    let first = session.asks(.redirected(id, .code(code)))
    let second = session.asks(.redirected(id, .code(Secret("y"))))
    #expect(session.answer(to: second)?.failure?.kind == .unknownSignIn)
    session.take(.roomMade(id, .success(())))
    #expect(session.effects == [.obtain(id, code: code)])
    session.take(.obtained(id, .failure(.denied(message: "access_denied"))))
    let denied = Failure(.signInDenied, "access_denied", account: .sample)
    #expect(session.answer(to: id) == .rejected(denied) && session.answer(to: first) == .rejected(denied))
  }

  @Test("is not disturbed by what others bring, and says once why an answer was not used")
  func untrusted() {
    var session = SessionScript.holding()
    let id = session.begins()
    for reading in [RedirectReading.foreign, .unclaimedError(message: "no"), .untrusted(message: "Another user.")] {
      let page = session.asks(.redirected(id, reading))
      #expect(session.answer(to: page) == .done)
    }
    let message = session.snapshot.signIn?.message
    #expect(message?.hasPrefix("Another user. If it was your browser") == true)
    session.asks(.redirected(id, .untrusted(message: "Somebody.")))
    session.asks(.redirected(id, .untrusted(message: "Another user.")))
    #expect(session.snapshot.signIn?.message?.hasPrefix("Somebody. ") == true)
    #expect(session.answer(to: id) == nil && session.machine.isWaiting(id))
  }

  @Test("goes to the provider once more without the scope that was refused, and ends if that does not help")
  func scopeRefused() {
    var session = SessionScript.holding()
    let id = session.begins()
    let refused = RedirectReading.scopeRefused(.failed(message: "invalid_scope"), fallbackURL: "https://id.example.com")
    let first = session.asks(.redirected(id, refused))
    #expect(session.answer(to: first) == .done && session.answer(to: id) == nil)
    let failed = SessionResponse.rejected(Failure(.signInFailed, "invalid_scope", account: .sample))
    let second = session.asks(.redirected(id, refused))
    #expect(session.answer(to: second) == failed && session.answer(to: id) == failed)
  }

  @Test("replaces an earlier sign-in once it has begun, or before that if it has to, and never a later one")
  func replaced() {
    let replaced = SessionResponse.rejected(.signInReplaced(.sample))
    for endsEarlier in [true, false] {
      var session = SessionScript.holding()
      let first = session.begins()
      let second = session.asks(.signIn(.browser, endsEarlier: endsEarlier))
      session.take(.roomMade(second, .success(())))
      #expect(session.answer(to: first) == (endsEarlier ? replaced : nil))
      session.take(.signInBegan(second, .failure(.failed(message: "no"))))
      #expect(session.machine.isWaiting(first) == !endsEarlier)
      let third = session.asks(.signIn(.browser))
      let fourth = session.begins(device)
      #expect(session.answer(to: first) == replaced)
      session.take(.roomMade(third, .success(())))
      #expect(session.answer(to: third) == replaced)
      #expect(session.machine.isWaiting(fourth) && session.snapshot.signIn?.flow == .device)
    }
  }

  @Test("sends nobody to sign in for nothing: without room, or while locked, the provider is not asked")
  func cannotBegin() {
    var session = SessionScript.holding()
    let id = session.asks(.signIn(.device))
    session.take(.roomMade(id, .failure(.full)))
    #expect(session.effects.isEmpty && session.answer(to: id) == .rejected(Failure(.full, .sample)))
    session.take(.locked(.user))
    let locked = session.asks(.signIn(.device))
    #expect(session.answer(to: locked) == session.rejection(in: .locked(.explicit(.user))))
    let replacing = session.asks(.signIn(.device, replacesLocked: true))
    #expect(session.effects == [.makeRoom(replacing)])
    let browser = session.asks(.signIn(.clientCredentials, replacesLocked: true))
    session.take(.roomMade(browser, .success(())))
    #expect(
      session.answer(to: browser)?.failure?.kind == .flowNotSupported, "not the client's own grant for a user")
  }

  @Test("ends a sign-in that waits when a lock comes, unless the sign-in replaces what is locked")
  func locked() {
    for replacesLocked in [true, false] {
      var session = Self.signedOut
      let id = session.begins(replacesLocked: replacesLocked)
      session.take(.locked(.user))
      #expect(session.machine.isWaiting(id) == replacesLocked)
      #expect(session.answer(to: id) == (replacesLocked ? nil : session.rejection(in: .locked(.explicit(.user)))))
    }
    var session = Self.signedOut
    session.take(.locked(.user))
    let id = session.begins()
    #expect(session.machine.isWaiting(id), "a lock without a session is older than the sign-in")
  }

  @Test("polls for a device until something is granted, also if there was no room meanwhile")
  func polls() {
    var session = SessionScript.holding()
    let id = session.begins(device)
    session.passes(.seconds(5))
    #expect(session.effects == [.makeRoom(id)])
    session.take(.roomMade(id, .failure(.full)))
    #expect(session.effects.isEmpty && session.machine.isWaiting(id))
    session.passes(.seconds(10))
    session.take(.roomMade(id, .success(())))
    #expect(session.effects == [.obtain(id)])
    session.take(.obtained(id, .success(.notYet(.pending))))
    #expect(session.effects.isEmpty && session.machine.isWaiting(id) && session.machine.isAtRest)
    session.passes(.seconds(10))
    session.take(.roomMade(id, .success(())))
    session.brings(grant, to: id)
    session.writes()
    #expect(session.answer(to: id) == .done && session.token == .sample(5))
  }

  @Test("ends its waiting sign-ins when it stops, and lets a grant land that has been asked for")
  func stopping() {
    for (index, stage) in stages.enumerated() {
      var (session, id) = stage
      session.take(.stopping)
      goOn(&session, id, from: index)
      if index > 2 { session.writes() }
      #expect(session.answer(to: id) == (index > 2 ? .done : .rejected(.shuttingDown)), "stage \(index)")
      #expect(session.machine.isAtRest)
    }
  }

  @Test("keeps a sign-in that waits if the settings or the store change, or another program signs in")
  func reloads() {
    var session = SessionScript.holding()
    let id = session.begins()
    session.take(.configured(.obeyingEveryLock, changed: [.endpoint, .store]))
    session.imports(.sample(7, issuedAt: session.now))
    session.writes()
    #expect(session.machine.isWaiting(id))
    goOn(&session, id)
    session.writes()
    #expect(session.answer(to: id) == .done && session.token == .sample(5))
  }
}
