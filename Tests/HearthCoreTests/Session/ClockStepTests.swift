import HearthCore
import TestSupport
import Testing

@Suite("A session whose clock is set")
struct ClockStepTests {
  @Test("keeps every wait as long as it was meant, when the clock is set back")
  func clockSetBack() {
    var session = SessionScript.holding()
    for _ in 0..<20 { session.isHinted(.unreadable(.denied)) }
    session.now = session.now - .seconds(36_000)
    session.take(.clockChanged(by: Duration.zero - .seconds(36_000)))
    let set = session.now
    session.wakes()
    #expect(session.effects == [.read])
    #expect(session.now - set <= .seconds(30))
  }

  @Test("waits what is left of a wait, after the clock was set back")
  func clockSetBackWhileWaiting() {
    var session = SessionScript.holding()
    session.comesDue()
    session.passes(.seconds(400))
    session.fails(.unavailable(message: "503", retryAfter: .seconds(60)))
    session.now = session.now - .seconds(200)
    session.take(.clockChanged(by: Duration.zero - .seconds(200)))
    #expect(session.snapshot.nextAttemptAt.map { $0 - session.now } == .seconds(60))
  }

  @Test("makes its plan anew when the settings change")
  func newSettings() {
    var session = SessionScript.holding()
    var settings = SessionSettings.obeyingEveryLock
    settings.refresh.margin = .seconds(60)
    session.take(.configured(settings))
    #expect(session.snapshot.nextAttemptAt.map { $0 >= .sample + .seconds(3600 - 66) } == true)
  }

  @Test("shows the end of a sign-in by the clock as it is set")
  func signIn() {
    var session = SessionScript.holding()
    session.take(.signInChanged(SignInProgress(flow: .browser, expiresAt: .sample + .seconds(600))))
    session.now = session.now + .seconds(3600)
    session.take(.clockChanged(by: .seconds(3600)))
    #expect(session.snapshot.signIn?.expiresAt == .sample + .seconds(4200))
  }
}
