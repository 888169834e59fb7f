import TestSupport
import Testing

@testable import HearthCore

@Suite("What servers report about the time") struct ServerClocksTests {
  private let unanswered = Result<APIResponse, ExchangeFailure>.failure(.unanswered(message: "reset"))

  /// Both accounts are configured, and no server has reported the time.
  private func untold() -> OutboxScript {
    var outbox = OutboxScript(accounts: [Sample.work, Sample.other])
    outbox.machine.clockStepped(by: .seconds(1))
    outbox.run()
    return outbox
  }

  @Test(
    "One account's server that says 2015 counts neither for another account nor against a server that agrees with us")
  func wrongServer() {
    var outbox = untold()
    let year = Duration.seconds(365 * 86_400)
    outbox.machine.serverAnswered(Sample.work, Sample.origin, skew: .zero - year)
    #expect(outbox.machine.expiryTime(of: Sample.work, at: outbox.now) == .agreed(outbox.now - year))
    #expect(outbox.machine.expiryTime(of: Sample.other, at: outbox.now) == .unconfirmed(outbox.now))
    outbox.machine.serverAnswered(Sample.other, Sample.origin, skew: .seconds(2))
    #expect(outbox.machine.expiryTime(of: Sample.other, at: outbox.now) == .agreed(outbox.now))
    #expect(outbox.machine.expiryTime(of: Sample.work, at: outbox.now) == .agreed(outbox.now))
    #expect(outbox.machine.sweeps.agreedTime(at: outbox.now) == outbox.now)
  }

  @Test("A Date that is years off is ignored: with such a clock here no certificate would be valid")
  func years() {
    var outbox = untold()
    outbox.machine.serverAnswered(Sample.work, Sample.origin, skew: .seconds(-11 * 365 * 86_400))
    #expect(outbox.machine.expiryTime(of: Sample.work, at: outbox.now) == .agreed(outbox.now))
  }

  @Test("If this clock is ahead, all servers contradict it, and nothing expires early")
  func ahead() {
    var outbox = untold()
    outbox.machine.serverAnswered(Sample.work, Sample.origin, skew: .seconds(-3600))
    outbox.machine.serverAnswered(Sample.work, skew: .seconds(-3601))
    outbox.machine.serverAnswered(Sample.other, Sample.origin, skew: .seconds(-3600))
    #expect(outbox.machine.sweeps.agreedTime(at: outbox.now) == outbox.now - .seconds(3600))
  }

  @Test(
    "A server that does not report the time is asked three times; then an expired item ends, and its lane continues")
  func refused() {
    var outbox = untold()
    outbox.machine.accounts[Sample.work]?.timeNeededFrom = Sample.origin
    outbox.machine.wake(Sample.work)
    for _ in 1...3 {
      #expect(outbox.machine.expiryTime(of: Sample.work, at: outbox.now) == .unconfirmed(outbox.now))
      #expect(outbox.machine.timesToAsk(at: outbox.now).map(\.origin) == [Sample.origin])
      outbox.machine.timeAnswered(unanswered, Sample.work, Sample.origin)
      outbox.now = outbox.now + .seconds(60)
    }
    #expect(outbox.machine.expiryTime(of: Sample.work, at: outbox.now) == .agreed(outbox.now))
    #expect(outbox.run().map(\.account) == [Sample.work])
  }

  @Test("The time is asked for even if a request hangs, also one to the same server")
  func hung() {
    var outbox = untold()
    outbox.run(claiming: [outbox.claim("hung")])
    outbox.start()
    outbox.machine.accounts[Sample.work]?.timeNeededFrom = Sample.origin
    #expect(outbox.machine.timesToAsk(at: outbox.now).isEmpty, "its answer may tell the time shortly")
    #expect(outbox.machine.nextWake(after: outbox.now) == outbox.now + .seconds(1))
    outbox.now = outbox.now + .seconds(1)
    #expect(outbox.machine.timesToAsk(at: outbox.now).map(\.origin) == [Sample.origin])
  }
}
