import TestSupport
import Testing

@testable import HearthCore

@Suite("The refreshes of a session")
struct RefreshCycleTests {
  private let settings = RefreshSettings()
  private let start = Timestamp.sample
  private let past = Timestamp(milliseconds: 0)

  private func failed(_ failures: [RefreshFailure]) -> RefreshCycle {
    var (cycle, random) = (RefreshCycle(), SeededGenerator(seed: 1))
    for failure in failures { _ = cycle.failed(failure, settings, at: start, &random) }
    return cycle
  }

  @Test("expect the answer to a request once, and none to an abandoned one")
  func request() {
    var cycle = RefreshCycle()
    #expect(cycle.end() == false)
    cycle.begin(at: start)
    #expect(cycle.request == .sent)
    #expect(cycle.end() == true)
    #expect(cycle.end() == false)
    cycle.abandon()
    #expect(cycle.request == .none, "nothing was sent that could be abandoned")
    cycle.begin(at: start)
    cycle.abandon()
    #expect(cycle.end() == false)
    #expect(cycle.request == .none)
  }

  @Test(
    "wait after a failure, a demand only for Retry-After and at most ten seconds, and all for at least a second"
  )
  func earliestAttempt() {
    var random = SeededGenerator(seed: 1)
    for (retryAfter, demanded) in [(7, 7), (40, 10), (1_000_000_000_000, 10)] {
      var cycle = RefreshCycle()
      cycle.begin(at: start)
      _ = cycle.failed(
        .unavailable(message: "503", retryAfter: .seconds(retryAfter)), settings, at: start, &random)
      #expect(cycle.earliestAttempt(isDemanded: false) == start + .seconds(min(retryAfter, 3600)))
      #expect(cycle.earliestAttempt(isDemanded: true) == start + .seconds(demanded))
    }
    var cycle = failed([])
    cycle = failed([RefreshFailure](repeating: .unavailable(message: "503", retryAfter: nil), count: 12))
    #expect(cycle.earliestAttempt(isDemanded: false) >= start + .seconds(150))
    #expect(cycle.earliestAttempt(isDemanded: true) == start)
    cycle.begin(at: start)
    #expect(cycle.earliestAttempt(isDemanded: true) == start + RefreshSettings.leastGap)
  }

  @Test("are tried early once in each step when the network returns, but only if no connection could be made")
  func networkReturned() {
    var cycle = failed([.unavailable(message: "503", retryAfter: nil)])
    let until = cycle.earliestAttempt(isDemanded: false)
    cycle.networkReturned()
    #expect(cycle.earliestAttempt(isDemanded: false) == until)

    cycle = failed([.unreachable(message: "no route")])
    let stepEnd = cycle.earliestAttempt(isDemanded: false)
    cycle.networkReturned()
    #expect(cycle.earliestAttempt(isDemanded: false) == past)
    var random = SeededGenerator(seed: 2)
    #expect(cycle.failed(.unreachable(message: "no route"), settings, at: start, &random) == stepEnd - start)
    #expect(cycle.history.failures == 1, "the attempt ahead of time is no step of its own")
    cycle.networkReturned()
    #expect(cycle.earliestAttempt(isDemanded: false) == stepEnd)
  }

  @Test("advise to sign in ten minutes after the provider began to give neither a grant nor a final answer")
  func signInAdvice() {
    #expect(failed([.unreachable(message: "no route")]).signInAdvisedAt(start) == nil)
    let cycle = failed([.unclear(message: "400", retryAfter: nil)])
    #expect(cycle.signInAdvisedAt(start) == start + .seconds(600))
    #expect(cycle.signInAdvisedAt(start + .seconds(900)) == start + .seconds(900))
    let fixed = failed([.unclear(message: "400", retryAfter: nil), .misconfigured(message: "401")])
    #expect(fixed.signInAdvisedAt(start) == nil)
  }

  @Test("start again with another grant, except for the minimum gap")
  func restart() {
    var cycle = failed([.unavailable(message: "503", retryAfter: .seconds(40))])
    cycle.begin(at: start)
    cycle.restart()
    #expect(cycle.history.trouble == nil && cycle.history.failures == 0)
    #expect(cycle.earliestAttempt(isDemanded: false) == start + RefreshSettings.leastGap)
  }

  @Test("withhold a token that an API rejected until a refresh succeeds, unless other APIs accept it")
  func apiRejection() {
    let token = Token.sample(1).fingerprint
    var random = SeededGenerator(seed: 1)
    for isAcceptedElsewhere in [false, true] {
      var cycle = RefreshCycle()
      cycle.tokenRejected(APIRejection(token, isAcceptedElsewhere: isAcceptedElsewhere))
      _ = cycle.failed(.unanswered(message: "reset"), settings, at: start, &random)
      #expect((cycle.apiRejection == nil) == isAcceptedElsewhere)
      cycle.succeeded(at: start)
      #expect(cycle.apiRejection == nil)
    }
  }
}
