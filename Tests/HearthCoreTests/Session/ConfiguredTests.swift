import TestSupport
import Testing

@testable import HearthCore

@Suite("A session whose configuration is reloaded") struct ConfiguredTests {
  @Test("keeps its plan, its refresh in flight and its calls if none of their settings changed")
  func untouched() {
    var session = SessionScript.holding()
    let plan = session.snapshot.token?.refreshAt
    var settings = SessionSettings.obeyingEveryLock
    settings.username = "ada"
    session.take(.configured(settings))
    #expect(plan != nil && session.snapshot.token?.refreshAt == plan)
    #expect(session.snapshot.username == "ada")
    let call = session.asks(.refresh)
    settings.refresh.margin = .seconds(60)
    session.take(.configured(settings))
    #expect(session.effects.isEmpty && session.attempts.count == 1 && session.answers[call] == nil)
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.answers[call] == [.done] && session.state == .authenticated)
    #expect(session.events.allSatisfy { if case .changed(_, let state) = $0 { state == .authenticated } else { true } })
  }

  /// What a session has learnt, or has under way.
  enum Learnt: CaseIterable {
    case countedLifetime, readLifetime, refreshInFlight, grantBeingWritten, unwrittenGrant, refusedToken
    case refusedRefreshToken, otherUser, wait, lock, unwrittenLock, foreignGrant

    func session() -> SessionScript {
      var credential = Credential.sample(1, issuedAt: .sample)
      if self == .countedLifetime { return .signedIn(credential) }
      if self == .foreignGrant { credential.origin = try? HTTPURL("https://other.example.com/").origin }
      var session = SessionScript.holding(credential, Self.settings)
      switch self {
      case .countedLifetime, .readLifetime, .foreignGrant: break
      case .lock, .unwrittenLock: session.take(.locked(.user))
      case .refusedToken: session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
      case .refreshInFlight, .grantBeingWritten, .unwrittenGrant, .refusedRefreshToken, .otherUser, .wait:
        session.asks(.refresh)
      }
      switch self {
      case .countedLifetime, .readLifetime, .refreshInFlight, .foreignGrant: break
      case .grantBeingWritten: session.isGranted(.sample(2))
      case .unwrittenGrant:
        session.isGranted(.sample(2))
        session.writes(.full)
      case .refusedToken, .wait: session.fails(.unavailable(message: "503", retryAfter: .seconds(40)))
      case .refusedRefreshToken:
        session.fails(.rejected(.refreshToken, message: "invalid_grant"))
        session.reads(.found(credential))
        session.writesEnd()
      case .otherUser:
        session.isGranted(.sample(2, subject: Subject(issuer: Subject.sample.issuer, id: "another")))
      case .lock: session.notesLock()
      case .unwrittenLock: session.notesLock(.full)
      }
      return session
    }

    static let settings = SessionSettings(
      locks: Set(Lock.allCases), binding: TokenBinding(discoveredBy: Subject.sample.issuer, at: .sample))
  }

  @Test(
    "keeps what it has learnt and what is under way, even if its provider is reached in another way",
    arguments: Learnt.allCases)
  func remembers(_ learnt: Learnt) {
    var session = learnt.session()
    let before = session
    session.take(.configured(before.machine.settings, changed: [.endpoint]))
    #expect(session.machine.credentialState == before.machine.credentialState)
    #expect(session.machine.refreshes == before.machine.refreshes && session.machine.file == before.machine.file)
    #expect(session.machine.locks == before.machine.locks && session.machine.subject == before.machine.subject)
    #expect(session.machine.calls == before.machine.calls && session.machine.epoch == before.machine.epoch)
    #expect(session.events.count == before.events.count && session.state == before.state)
  }

  @Test(
    "keeps what it has learnt if everything else changes, once the previous store has finished its work",
    arguments: Learnt.allCases)
  func outlives(_ learnt: Learnt) {
    var session = learnt.session()
    let before = session.machine
    session.take(.configured(before.settings, changed: Set(SessionPart.allCases)))
    #expect((session.machine.file.storeChange == .due) == (learnt == .grantBeingWritten))
    if learnt == .grantBeingWritten { session.writes() }
    #expect(session.effects.contains(.replaceStore) && session.effects.contains(.read))
    let after = session.machine
    #expect(after.refreshes.barred == before.refreshes.barred && after.locks == before.locks)
    #expect(after.refreshes.apiRejection == before.refreshes.apiRejection)
    #expect(after.refreshes.isBarred == before.refreshes.isBarred)
    #expect(after.active?.grant == before.active?.newest.grant && after.subject == before.subject)
    #expect(after.active?.timing == before.active?.newestTiming)
    guard learnt != .grantBeingWritten else { return }
    #expect(after.credentialState == before.credentialState && after.refreshes.history == before.refreshes.history)
  }

  @Test("retries at once what a new endpoint may fix, and obeys the provider's own waits")
  func anotherWay() {
    func waits(after failure: RefreshFailure, _ changed: Set<SessionPart> = []) -> Bool {
      var settings = SessionSettings.obeyingEveryLock
      settings.refresh.backoffInitial = .seconds(60)
      var session = SessionScript.holding(.sample(1, issuedAt: .sample), settings)
      session.asks(.refresh)
      session.fails(failure)
      session.take(.configured(settings, changed: changed))
      session.passes(RefreshSettings.leastGap)
      return session.attempts.count == 1
    }
    #expect(!waits(after: .misconfigured(message: "invalid_client")))
    for failure in [RefreshFailure.unreachable(message: "refused"), .unclear(message: "400", retryAfter: nil)] {
      #expect(waits(after: failure) && !waits(after: failure, [.endpoint]))
    }
    #expect(waits(after: .unavailable(message: "503", retryAfter: .seconds(40)), Set(SessionPart.allCases)))
  }

  @Test("asks the new endpoint what it does not know about its user, and gives the token that is configured now")
  func bearerAndSubject() {
    var credential = Credential.sample(1, subject: nil, issuedAt: .sample)
    credential.grant.idToken = .sample(7)
    var session = SessionScript.holding(credential)
    session.take(.configured(.obeyingEveryLock))
    #expect(session.effects.isEmpty)
    session.take(.configured(.obeyingEveryLock, changed: [.endpoint]))
    #expect(session.effects == [.identify(credential, generation: session.machine.epoch.generation)])
    session.take(.configured(SessionSettings(bearer: .idToken, configuredSubject: .sample), changed: [.endpoint]))
    #expect(session.effects.isEmpty && session.token == .sample(7) && session.snapshot.subject == .sample)
    session.take(.configured(SessionSettings(configuredSubject: nil)))
    #expect(session.token == .sample(1) && session.snapshot.subject == nil)
  }

  @Test("obeys only the locks that its account names now")
  func locks() {
    var session = SessionScript.holding()
    session.take(.locked(.screen))
    session.take(.configured(SessionSettings(locks: [.user, .suspend])))
    #expect(session.machine.locks.isEmpty)
    session.take(.locked(.screen))
    #expect(session.machine.locks.isEmpty)
    session.take(.locked(.suspend))
    #expect(session.state == .locked(.explicit(.suspend)))
  }

  @Test("locks at once if its file cannot be read and the new configuration says so")
  func unreadable() {
    var session = SessionScript.holding()
    session.isHinted(.unreadable(.denied))
    #expect(session.state == .authenticated)
    session.take(.configured(SessionSettings(locksWhenUnreadable: true)))
    #expect(session.state == .locked(.accessFailure(.denied)))
  }

  @Test("still knows where discovery has found its provider")
  func binding() throws {
    let found = try HTTPURL("https://tokens.example.com/").origin
    let settings = SessionSettings(binding: TokenBinding(discoveredBy: Subject.sample.issuer, at: .sample))
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), settings)
    session.isIdentified(as: nil, at: found)
    let resolved = session.machine.settings.binding
    #expect(resolved != settings.binding)
    session.take(.configured(settings, changed: [.endpoint]))
    #expect(session.machine.settings.binding == resolved)
    let other = SessionSettings(binding: TokenBinding(named: found, endpoints: [found]))
    session.take(.configured(other))
    #expect(session.machine.settings.binding == other.binding, "what is named is not to be found")
  }
}
