import HearthCore
import TestSupport
import Testing

@Suite("A session whose clock is set")
struct ClockStepTests {
  @Test("keeps the length of every wait when the clock is set back")
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

  @Test("waits the rest of a wait after the clock was set back")
  func clockSetBackWhileWaiting() {
    var session = SessionScript.holding()
    session.comesDue()
    session.passes(.seconds(400))
    session.fails(.unavailable(message: "503", retryAfter: .seconds(60)))
    session.now = session.now - .seconds(200)
    session.take(.clockChanged(by: Duration.zero - .seconds(200)))
    #expect(session.snapshot.nextAttemptAt.map { $0 - session.now } == .seconds(60))
  }

  @Test("keeps counting under a lock: setting the clock back revives no expired token")
  func deadUnderLock() {
    let credential = Credential.sample(1, issuedAt: .sample, isRenewable: false)
    for isCounted in [true, false] {
      var session = isCounted ? SessionScript.signedIn(credential) : .holding(credential)
      session.take(.locked(.screen))
      session.passes(.seconds(1800))
      session.steps(.seconds(-3600))
      session.passes(.seconds(1799))
      session.take(.unlocked(.screen))
      session.reads(.found(credential))
      if isCounted {
        #expect(session.effects == [.write(credential.moved(by: .seconds(-3600)), generation: 1)])
        session.writes()
      }
      #expect(session.token == .sample(1))
      session.take(.locked(.screen))
      session.passes(.seconds(1))
      session.take(.unlocked(.screen))
      session.reads(.found(isCounted ? credential.moved(by: .seconds(-3600)) : credential))
      #expect(session.token == nil)
      guard isCounted else {
        #expect(session.state == .authenticated && session.attempts.count == 1, "the provider is asked for the time")
        continue
      }
      session.writesEnd()
      #expect(session.state == .reauthRequired(.noRefreshToken))
    }
  }

  @Test("makes a new plan when the settings change")
  func newSettings() {
    var session = SessionScript.holding()
    var settings = SessionSettings.obeyingEveryLock
    settings.refresh.margin = .seconds(60)
    session.take(.configured(settings))
    #expect(session.snapshot.nextAttemptAt.map { $0 >= .sample + .seconds(3600 - 66) } == true)
  }

  @Test("shows the end of a sign-in by the new clock")
  func signIn() {
    var session = SessionScript.holding()
    let id = session.begins()
    session.now = session.now + .seconds(3600)
    session.take(.clockChanged(by: .seconds(3600)))
    #expect(session.snapshot.signIn?.expiresAt == .sample + .seconds(4200))
    session.passes(.seconds(599))
    #expect(session.answer(to: id) == nil)
    session.passes(.seconds(1))
    #expect(session.answer(to: id) == .rejected(.signInTimedOut(.sample, unanswered: nil)))
  }
}

extension Credential {
  fileprivate func moved(by step: Duration) -> Credential {
    var moved = self
    moved.grant.move(by: step)
    return moved
  }
}
