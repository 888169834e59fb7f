import TestSupport
import Testing

@testable import HearthCore

@Suite("A session whose configuration is read again") struct ConfiguredTests {
  @Test("keeps its plan, its refresh in flight and its calls where nothing of them changed")
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

  @Test("keeps what it has learnt: the API's answer, the wait after failures, and the user's lock")
  func remembers() {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(APIRejection(Token.sample(1).fingerprint)))
    session.fails(.unavailable(message: "503", retryAfter: .seconds(40)))
    session.take(.locked(.user))
    session.notesLock()
    let (rejection, next) = (session.machine.refreshes.apiRejection, session.machine.refreshes.history)
    session.take(.configured(.obeyingEveryLock))
    #expect(rejection != nil && session.machine.refreshes.apiRejection == rejection)
    #expect(next.failures == 1 && session.machine.refreshes.history == next)
    #expect(session.state == .locked(.explicit(.user)))
  }

  @Test("obeys the locks that its account names now, and no other")
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

  @Test("locks at once if its file cannot be read and it is told to now")
  func unreadable() {
    var session = SessionScript.holding()
    session.isHinted(.unreadable(.denied))
    #expect(session.state == .authenticated)
    session.take(.configured(SessionSettings(locksWhenUnreadable: true)))
    #expect(session.state == .locked(.accessFailure(.denied)))
  }

  @Test("knows still where discovery has found its provider")
  func binding() throws {
    let found = try HTTPURL("https://tokens.example.com/").origin
    let settings = SessionSettings(binding: TokenBinding(discoveredBy: Subject.sample.issuer, at: .sample))
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), settings)
    session.isIdentified(as: nil, at: found)
    let resolved = session.machine.settings.binding
    #expect(resolved != settings.binding)
    session.take(.configured(settings))
    #expect(session.machine.settings.binding == resolved)
  }
}
