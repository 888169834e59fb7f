import HearthCore
import Testing

@testable import HearthRuntime

@Suite struct DeliveryPaceTests {
  /// How far ahead is taken after so many deliveries, one every `interval`.
  private func lookahead(after count: Int, every interval: Duration, each duration: Duration) -> Int {
    var pace = ReadAhead()
    var now = Timestamp(milliseconds: 0)
    for _ in 0..<count {
      now = now + interval
      pace.finished(at: now, after: duration)
    }
    return pace.lookahead
  }

  @Test("Nothing is taken ahead while deliveries are slow, and more the faster they are")
  func slowAndFast() {
    #expect(lookahead(after: 200, every: .milliseconds(20), each: .milliseconds(20)) == 0)
    #expect(lookahead(after: 200, every: .milliseconds(10), each: .milliseconds(20)) == 32)
    #expect(lookahead(after: 200, every: .milliseconds(2), each: .milliseconds(20)) == 128)
  }

  @Test("Quick deliveries that are seldom, because each waits for a slow disk, are taken ahead")
  func slowDisk() {
    #expect(lookahead(after: 31, every: .milliseconds(60), each: .milliseconds(2)) == 0)
    #expect(lookahead(after: 32, every: .milliseconds(60), each: .milliseconds(2)) == 32)
    #expect(lookahead(after: 100, every: .milliseconds(60), each: .milliseconds(2)) == 32)
  }

  @Test("Once deliveries are slow again, nothing more is taken ahead")
  func slowAgain() {
    var pace = ReadAhead()
    var now = Timestamp(milliseconds: 0)
    for duration in Array(repeating: Duration.milliseconds(2), count: 40) + [.milliseconds(60), .milliseconds(60)] {
      now = now + .milliseconds(600)
      pace.finished(at: now, after: duration)
    }
    #expect(pace.lookahead == 0)
  }
}
