import HearthCore
import Testing

@testable import HearthOAuth

@Suite("Times in HTTP")
struct HTTPDateTests {
  private let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? .distantFuture

  @Test(
    "all three forms of a date are read (RFC 9110, section 5.6.7)",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
      ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
      ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
      ("Monday, 06-Nov-34 08:49:37 GMT", "2034-11-06T08:49:37Z"),
    ])
  func forms(_ text: String, _ expected: String) {
    #expect(Timestamp(httpDate: text, near: now) == Timestamp(rfc3339: expected))
  }

  @Test(
    "what is no date is none",
    arguments: [
      "", "now", "Sun, 31 Feb 2026 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 994 08:49:37 GMT",
    ])
  func none(_ text: String) {
    #expect(Timestamp(httpDate: text, near: now) == nil)
  }

  private func answer(_ headers: [(String, String)]) -> HTTPResponse {
    HTTPResponse(
      status: 503, headers: headers.map { APIRequest.Header(name: $0.0, value: $0.1) }, body: [], receivedAt: now)
  }

  @Test("the skew is the server's clock less ours")
  func skew() {
    #expect(answer([("date", "Sat, 21 Nov 2026 11:00:05 GMT")]).skew == .seconds(3605))
    #expect(answer([("Date", "Sat, 21 Nov 2026 09:00:00 GMT")]).skew == .seconds(-3600))
    #expect(answer([]).skew == nil)
  }

  @Test(
    "Retry-After is read in both forms, a date by the server's own clock, a fraction of a second as a whole one",
    arguments: [
      ([("Retry-After", "120")], Duration.seconds(120)),
      ([("Retry-After", "0")], .zero),
      ([("Retry-After", "99999999999999999999")], .seconds(365 * 86_400)),
      ([("Retry-After", "Sat, 21 Nov 2026 10:01:00 GMT")], .seconds(60)),
      (
        [("Retry-After", "Sat, 21 Nov 2026 12:01:00 GMT"), ("Date", "Sat, 21 Nov 2026 12:00:00 GMT")], .seconds(60)
      ),
      ([("Retry-After", "Sat, 21 Nov 2026 09:00:00 GMT")], .zero),
      ([("Retry-After", "soon")], nil),
      ([("Retry-After", "-5")], nil),
      ([], nil),
      ([("Retry-After", "29.7")], .seconds(30)),
      ([("Retry-After", "0.493")], .seconds(1)),
      ([("Retry-After", "292.052427053")], .seconds(293)),
      ([("Retry-After", "7.0")], .seconds(7)),
      ([("Retry-After", "0.0")], .zero),
      ([("Retry-After", "5e-05")], .seconds(1)),
      ([("Retry-After", "1e400")], .seconds(365 * 86_400)),
      ([("Retry-After", "-3")], nil),
      ([("Retry-After", "-0.5")], nil),
      ([("Retry-After", "29,7")], nil),
      ([("Retry-After", "29.7.1")], nil),
      ([("Retry-After", "0x10")], nil),
      ([("Retry-After", "inf")], nil),
      ([("Retry-After", "nan")], nil),
      ([("Retry-After", ".")], nil),
      ([("Retry-After", "")], nil),
    ] as [([(String, String)], Duration?)])
  func retryAfter(_ headers: [(String, String)], _ expected: Duration?) {
    #expect(answer(headers).retryAfter == expected)
  }

  @Test(
    "a field's value is what stands between the blanks around it",
    arguments: [
      ("7", "7"), (" \t 7 \t ", "7"), ("a  b\t c", "a  b\t c"), ("", ""), (" \t", ""), ("a\0b\r\n c\n", "a b   c"),
      ("\u{A0}a\u{A0}", "\u{A0}a\u{A0}"),
    ])
  func fieldValue(_ text: String, _ expected: String) {
    #expect(text.fieldValue == expected)
  }
}
