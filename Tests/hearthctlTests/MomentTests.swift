import Testing

@testable import hearthctl

@Suite struct MomentTests {
  @Test("reads the daemon's times to the second")
  func reads() {
    #expect(Moment("1970-01-01T00:00:00Z")?.seconds == 0)
    #expect(Moment("2026-11-21T10:00:00.999Z")?.seconds == 1_795_255_200)
    #expect(Moment("2028-02-29T23:59:59.000Z")?.seconds == 1_835_481_599)
    for text in ["", "now", "2026-11-21", "2026-11-21T10:00:00+01:00", "2026-11-21 10:00:00Z", "20x6-11-21T10:00:00Z"] {
      #expect(Moment(text) == nil)
    }
  }

  @Test(
    "writes lengths of time at a glance",
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min"), (3059, "50 min"), (3600, "1 h"), (7500, "2 h 5 min"), (86_400, "1 d"),
      (273_600, "3 d 4 h"), (-5, "0 s"),
    ])
  func spans(seconds: Int, text: String) {
    #expect(Moment.span(seconds) == text)
  }

  @Test("writes times as seen from now")
  func relative() {
    let now = Moment(seconds: 1000)
    #expect(Moment(seconds: 1000).relative(to: now) == "now")
    #expect(Moment(seconds: 1120).relative(to: now) == "in 2 min")
    #expect(Moment(seconds: 970).relative(to: now) == "30 s ago")
  }
}
