import HearthCore
import TestSupport
import Testing

@Suite("A session whose network comes back")
struct NetworkReturnTests {
  @Test("retries once at once when the network returns, then waits for the next step, however often it returns")
  func networkReturns() {
    var session = SessionScript.holding()
    for _ in 0..<8 {
      session.comesDue()
      session.fails(.unreachable(message: "no route"))
    }
    let planned = session.snapshot.nextAttemptAt
    for _ in 0..<30 {
      session.passes(.seconds(2))
      session.take(.networkReturned)
      if session.snapshot.isRefreshing { session.fails(.unreachable(message: "no route")) }
    }
    #expect(session.attempts.count == 9)
    #expect(session.snapshot.nextAttemptAt == planned)
    #expect(session.snapshot.history.failures == 8)
    session.comesDue()
    #expect(session.attempts.count == 10)
    session.fails(.unreachable(message: "no route"))
    session.passes(.seconds(2))
    session.take(.networkReturned)
    #expect(session.attempts.count == 11)
  }

  @Test(
    "does not shorten waits after an answer when the network returns",
    arguments: [
      RefreshFailure.unavailable(message: "503", retryAfter: nil),
      .unavailable(message: "429", retryAfter: .seconds(9)),
      .unclear(message: "403", retryAfter: nil), .misconfigured(message: "invalid_client"),
    ])
  func networkReturnsInVain(failure: RefreshFailure) {
    var session = SessionScript.holding()
    for _ in 0..<8 {
      session.comesDue()
      session.fails(failure)
    }
    session.passes(.seconds(2))
    session.take(.networkReturned)
    #expect(session.attempts.count == 8)
  }
}
