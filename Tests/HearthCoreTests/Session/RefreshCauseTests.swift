import TestSupport
import Testing

@testable import HearthCore

@Suite("Why a refresh begins") struct RefreshCauseTests {
  @Test("is that it is due, that somebody asked, that the last try failed, or that an API has rejected the token")
  func cause() {
    var session = SessionScript.holding()
    session.comesDue()
    #expect(session.machine.refreshCause.hasPrefix("it has been due since "))
    session.take(.refreshEnded(generation: 0, .failed(.unavailable(message: "503", retryAfter: nil))))
    #expect(session.machine.refreshCause.hasPrefix("the last try failed"))
    session = .holding()
    session.asks(.refresh)
    #expect(session.machine.refreshCause == "somebody asked for it")
    session = .holding()
    let token = Token.sample(1).fingerprint
    session.passes(.seconds(600))
    session.asks(.reportUnauthorized(APIRejection(token)))
    #expect(session.machine.refreshCause == "an API has rejected token \(token)")
  }
}
