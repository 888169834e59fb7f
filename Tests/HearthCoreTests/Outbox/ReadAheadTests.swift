import Testing

@testable import HearthCore

@Suite struct ReadAheadTests {
  /// The number of items read ahead after this many deliveries, one every `interval`.
  private func limit(after count: Int, every interval: Duration, each duration: Duration) -> Int {
    var readAhead = ReadAhead()
    var now = Timestamp(milliseconds: 0)
    for _ in 0..<count {
      now = now + interval
      readAhead.finished(at: now, after: duration)
    }
    return readAhead.limit
  }

  @Test("Nothing is read ahead while deliveries are slow, and more the faster they are")
  func slowAndFast() {
    #expect(limit(after: 200, every: .milliseconds(20), each: .milliseconds(20)) == 0)
    #expect(limit(after: 200, every: .milliseconds(10), each: .milliseconds(20)) == 32)
    #expect(limit(after: 200, every: .milliseconds(2), each: .milliseconds(20)) == 128)
  }

  @Test("Quick deliveries that are rare because of a slow disk are read ahead")
  func slowDisk() {
    #expect(limit(after: 31, every: .milliseconds(60), each: .milliseconds(2)) == 0)
    #expect(limit(after: 32, every: .milliseconds(60), each: .milliseconds(2)) == 32)
    #expect(limit(after: 100, every: .milliseconds(60), each: .milliseconds(2)) == 32)
  }

  @Test("A clock that is set back restarts the count")
  func setBack() {
    var readAhead = ReadAhead()
    for _ in 1...31 { readAhead.finished(at: Timestamp(milliseconds: 10_000), after: .milliseconds(20)) }
    readAhead.finished(at: Timestamp(milliseconds: 0), after: .milliseconds(20))
    #expect(readAhead.limit == 0)
  }

  @Test("The limit stays after 32 quick deliveries in a row, even if they have become fewer")
  func quickAndFewer() {
    var readAhead = ReadAhead()
    for number in 1...128 {
      readAhead.finished(at: Timestamp(milliseconds: 0), after: .milliseconds(number > 112 ? 2 : 20))
    }
    for _ in 1...15 { readAhead.finished(at: Timestamp(milliseconds: 1000), after: .milliseconds(2)) }
    #expect(readAhead.limit == 128)
    readAhead.finished(at: Timestamp(milliseconds: 2000), after: .milliseconds(2))
    #expect(readAhead.limit == 128)
  }

  @Test("When deliveries are slow again, nothing more is read ahead")
  func slowAgain() {
    var readAhead = ReadAhead()
    var now = Timestamp(milliseconds: 0)
    for duration in Array(repeating: Duration.milliseconds(2), count: 40) + [.milliseconds(60), .milliseconds(60)] {
      now = now + .milliseconds(600)
      readAhead.finished(at: now, after: duration)
    }
    #expect(readAhead.limit == 0)
  }
}
