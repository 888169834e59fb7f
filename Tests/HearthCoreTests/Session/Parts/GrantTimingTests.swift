import TestSupport
import Testing

@testable import HearthCore

@Suite("What the times of a grant are based on")
struct GrantTimingTests {
  private func grant(_ number: Int, idToken: Int, issuedAt: Timestamp = .sample) -> Grant {
    Grant(
      accessToken: .sample(number), idToken: .sample(idToken), issuedAt: issuedAt,
      expiresAt: .sample + .seconds(3600))
  }

  @Test("is this process's own count for a new token, and unchanged for a token that is kept")
  func keeps() {
    let old = grant(1, idToken: 11)
    let timing = GrantTiming.read
    #expect(timing.of(grant(2, idToken: 12), after: old).access == .counted)
    #expect(timing.of(grant(2, idToken: 11), after: old).access == .read())
    #expect(timing.of(grant(1, idToken: 12), after: old).access == .read())
    #expect(timing.of(grant(1, idToken: 11, issuedAt: .sample + .seconds(1)), after: old).access == .counted)
  }

  @Test("moves the plan with the token if only the refresh token ended before the grant was issued")
  func movesPlan() {
    var (timing, grant) = (GrantTiming.read, grant(1, idToken: 11, issuedAt: .sample + .seconds(30)))
    grant.refreshExpiresAt = .sample
    #expect(timing.settle(&grant, issuedAhead: .seconds(30), mayBeOver: false) == .seconds(-30))
    #expect(grant.issuedAt == .sample && grant.refreshExpiresAt == .sample)
  }

  @Test("is written again if the clock is set by more than a minute, and not for less")
  func worthWriting() {
    for (step, isWritten) in [
      (Duration.seconds(60), false), (.milliseconds(60_001), true), (.seconds(-60), false),
      (.milliseconds(-60_001), true),
    ] {
      var session = SessionScript.holding()
      session.refreshes(to: 2)
      session.steps(step)
      #expect(session.effects.contains { if case .write = $0 { true } else { false } } == isWritten, "\(step)")
    }
  }
}
