import HearthCore
import Testing

@testable import hearthctl

@Suite struct RelativeTimeTests {
  @Test(
    "writes lengths of time at a glance",
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min"), (3059, "50 min"), (3600, "1 h"), (7500, "2 h 5 min"), (86_400, "1 d"),
      (273_600, "3 d 4 h"), (-5, "0 s"),
    ])
  func spans(seconds: Int, text: String) {
    #expect(Duration.seconds(seconds).span == text)
  }

  @Test("writes times as seen from now, in whole seconds of both")
  func relative() {
    let now = Timestamp(milliseconds: 1_000_900)
    #expect(Timestamp(milliseconds: 1_000_100).relative(to: now) == "now")
    #expect(Timestamp(seconds: 1120).relative(to: now) == "in 2 min")
    #expect(Timestamp(seconds: 970).relative(to: now) == "30 s ago")
  }
}
