import HearthCore
import TestSupport
import Testing

@Suite("A session whose file becomes unreadable")
struct UnreadableTests {
  @Test("locks at once on an unreadable file if that is configured")
  func locksWhenUnreadable() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), SessionSettings(locksWhenUnreadable: true))
    session.isHinted(.unreadable(.denied))
    #expect(session.state == .locked(.accessFailure(.denied)))
    session.wakes()
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state == .authenticated)
  }

  @Test("gives all callers that wait for a refresh its result, even if the file becomes unreadable meanwhile")
  func answersThoughUnreadable() {
    var session = SessionScript.holding()
    let refresh = session.asks(.refresh)
    session.isHinted(.unreadable(.denied))
    let joined = session.asks(.refresh)
    #expect(session.answer(to: refresh) == nil)
    session.isGranted(.sample(2))
    session.writes(.denied)
    #expect(session.answer(to: refresh) == .done)
    #expect(session.answer(to: joined) == .done)
    #expect(session.token == .sample(2))
  }

  @Test("also locks at once during a refresh, and keeps its result until it can be written")
  func locksWhenUnreadableInFlight() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample), SessionSettings(locksWhenUnreadable: true))
    session.asks(.refresh)
    session.isHinted(.unreadable(.denied))
    #expect(session.state == .locked(.accessFailure(.denied)))
    session.isGranted(.sample(2))
    session.writes(.denied)
    #expect(session.state == .locked(.accessFailure(.denied)))
    #expect(session.answer(asking: .token(minValidity: nil)) == session.rejection(in: .locked(.accessFailure(.denied))))
    session.wakes()
    session.reads(.found(.sample(1, issuedAt: .sample)))
    session.writes()
    #expect(session.token == .sample(2))
    #expect(session.state == .authenticated)
  }
}
