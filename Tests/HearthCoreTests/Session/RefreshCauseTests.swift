import TestSupport
import Testing

@testable import HearthCore

@Suite("Why a refresh begins") struct RefreshCauseTests {
  @Test("is its due time, a delay that ended, a client that requested it, or an API that has rejected the token")
  func cause() {
    var session = SessionScript.holding()
    session.comesDue()
    #expect(session.machine.refreshCause.hasPrefix("the refresh has been due since "))
    session.take(.refreshEnded(generation: 0, .failed(.unavailable(message: "503", retryAfter: nil))))
    #expect(session.machine.refreshCause.hasPrefix("the delay after a failure ended"))
    session = .holding()
    session.asks(.refresh)
    #expect(session.machine.refreshCause == "a client requested a refresh")
    session = .holding()
    let token = Token.sample(1).fingerprint
    session.passes(.seconds(600))
    session.asks(.reportUnauthorized(APIRejection(token)))
    #expect(session.machine.refreshCause == "an API has rejected token \(token)")
  }
}
