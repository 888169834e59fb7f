import Testing

@testable import HearthLinux

@Suite("What others can cause is throttled") struct ThrottleTests {
  @Test("the first passes, those of the interval after it are counted, and pass as one when it is over")
  func counts() {
    var throttle = Throttle(interval: .seconds(60))
    // The last one comes when the release is late.
    var decisions = [5, 6, 7, 66].map { throttle.admit(at: .seconds($0)) }
    #expect(decisions == [.pass, .countUntil(.seconds(65)), .count, .count])
    var count = throttle.release(at: .seconds(66))
    #expect(count == 3)
    decisions = [67, 68].map { throttle.admit(at: .seconds($0)) }
    #expect(decisions == [.countUntil(.seconds(126)), .count], "one an interval, for as long as it lasts")
    count = throttle.release(at: .seconds(126))
    #expect(count == 2)
    decisions = [186].map { throttle.admit(at: .seconds($0)) }
    #expect(decisions == [.pass])
  }
}
