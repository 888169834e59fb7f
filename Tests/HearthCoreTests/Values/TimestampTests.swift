import HearthCore
import Testing

@Suite("A timestamp")
struct TimestampTests {
  @Test(
    "is written in RFC 3339, UTC, with milliseconds",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1_795_255_200_000, "2026-11-21T10:00:00.000Z"),
      (951_782_400_007, "2000-02-29T00:00:00.007Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func writes(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).description == text)
    #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
  }

  @Test(
    "is written as the nearest time that RFC 3339 can write",
    arguments: [
      (Int64.max, "9999-12-31T23:59:59.999Z"), (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
      (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
    ])
  func writesNearest(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).description == text)
  }

  @Test(
    "reads what other programs write",
    arguments: [
      ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21 10:00:00Z", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21T12:30:00+02:30", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21T00:30:00-09:30", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21T10:00:00-00:00", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21T10:00:00.5Z", "2026-11-21T10:00:00.500Z"),
      ("2026-11-21T10:00:00.05Z", "2026-11-21T10:00:00.050Z"),
      ("2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123Z"),
      ("2026-12-31T23:59:60Z", "2026-12-31T23:59:59.000Z"),
      ("2027-01-01T00:00:00+00:01", "2026-12-31T23:59:00.000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
    ])
  func reads(text: String, same: String) {
    #expect(Timestamp(rfc3339: text)?.description == same)
  }

  @Test(
    "is not read from garbage, nor from moments that RFC 3339 cannot write",
    arguments: [
      "", "now", "2026", "2026-11-21", "2026-11-21T10:00Z", "2026-11-21T10:00:00", "2026-11-21T10:00:00ZZ",
      "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00+0200", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+02:60",
      "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z",
      "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:60:00Z",
      "2026-11-21T10:00:61Z", "-026-11-21T10:00:00Z", "+2026-11-21T10:00:00Z", " 2026-11-21T10:00:00Z",
      "２０２６-11-21T10:00:00Z", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+00:01",
    ])
  func refuses(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test("comes back from its own writing, on every day of eight centuries")
  func everyDay() {
    for day in stride(from: Int64(-25_567), to: 266_631, by: 1) {
      let timestamp = Timestamp(milliseconds: day * 86_400_000 + 12_345)
      if Timestamp(rfc3339: timestamp.description) != timestamp {
        Issue.record("\(timestamp) is not read back")
        return
      }
    }
  }

  @Test("stops at the ends of what can be written, whatever is added")
  func saturates() {
    let now = Timestamp(seconds: 1_795_000_000)
    #expect(now + .seconds(Int64.max) == .distantFuture)
    #expect(now - .seconds(Int64.max) == Timestamp(milliseconds: 0))
    #expect(now + .seconds(400 * 366 * 86_400) < .distantFuture)
    #expect(Timestamp.distantFuture + .milliseconds(1) == .distantFuture)
    #expect(Timestamp(seconds: .max) + .seconds(1) <= .distantFuture)
  }

  @Test("is told apart to the millisecond")
  func differs() {
    let now = Timestamp(seconds: 1_795_000_000)
    #expect((now + .milliseconds(1)) - now == .milliseconds(1))
    #expect(now - (now + .seconds(3)) == .seconds(-3))
    #expect(now < now + .milliseconds(1))
    #expect(now + .microseconds(999) == now)
  }
}
