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
    "a time since 1970 in Retry-After is a time by the server's own clock",
    arguments: [
      ("1795255260", Duration.seconds(60)), ("1795255260.5", .milliseconds(60_500)), ("1795255260000", .seconds(60)),
      ("1795251600", .zero), ("2026-11-21T10:01:00Z", .seconds(60)), ("31536000", .seconds(31_536_000)),
      ("4102444800", .seconds(31_536_000)),
    ])
  func epoch(_ text: String, _ expected: Duration) {
    #expect(answer([("Retry-After", text)]).retryAfter == expected)
    #expect(answer([("Retry-After", text), ("Date", "Thu, 01 Jan 1970 00:00:00 GMT")]).retryAfter != nil)
  }

  @Test(
    "the headers of a quota say how long a 429 lasts if Retry-After does not",
    arguments: [
      // GitHub, in seconds since 1970; Discord, too, with fractions, and what is left of them.
      ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1795255260")], Duration.seconds(60)),
      ([("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795255260")], .seconds(60)),
      ([("X-RateLimit-Reset-After", "0.529"), ("X-RateLimit-Reset", "1795255200.529")], .seconds(1)),
      ([("X-RateLimit-Reset", "30")], .seconds(30)),
      ([("X-RateLimit-Reset", "1795255260000")], .seconds(60)),
      ([("X-RateLimit-Reset", "1795255260"), ("Date", "Sat, 21 Nov 2026 10:00:30 GMT")], .seconds(30)),
      ([("X-RateLimit-Reset", "1795255000")], .zero),
      ([("X-RateLimit-Reset", "2026-11-21T10:01:00Z")], .seconds(60)),
      ([("X-Rate-Limit-Reset", "Sat, 21 Nov 2026 10:01:00 GMT")], .seconds(60)),
      ([("RateLimit-Limit", "9"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "30")], .seconds(30)),
      ([("RateLimit", "limit=9, remaining=0, reset=30")], .seconds(30)),
      ([("RateLimit", #""default";r=0;t=30"#)], .seconds(30)),
      ([("RateLimit", #""second";r=0;t=1, "hour";r=0;t=60,"day";r=4;t=9999"#)], .seconds(60)),
      ([("RateLimit", #""default"; t=30"#)], .seconds(30)),
      ([("Retry-After", "7"), ("RateLimit", #""default";r=0;t=30"#)], .seconds(7)),
      ([("Retry-After", "29,7"), ("X-RateLimit-Reset", "30")], .seconds(30)),
      // Another limit than the one that has quota left.
      ([("X-RateLimit-Remaining", "4999"), ("X-RateLimit-Reset", "1795255260")], nil),
      ([("RateLimit", #""default";r=5;t=30"#)], nil),
      ([("RateLimit", "limit=9, remaining=5, reset=30")], nil),
      ([("RateLimit", #""default";r=0"#)], nil),
      ([("RateLimit", #""default";r=0;t=-3"#)], nil),
      ([("RateLimit", ",;=,==;")], nil),
      ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "soon")], nil),
    ] as [([(String, String)], Duration?)])
  func quotas(_ headers: [(String, String)], _ expected: Duration?) {
    var answer = answer(headers)
    answer.status = 429
    #expect(answer.retryAfter == expected)
  }

  @Test("a 403 is a quota's only if nothing is left of it, and another status never without Retry-After")
  func quotasOfRefusals() {
    func wait(_ status: Int, _ headers: [(String, String)]) -> Duration? {
      var answer = answer(headers)
      answer.status = status
      return answer.retryAfter
    }
    let reset = ("X-RateLimit-Reset", "30")
    #expect(wait(403, [("X-RateLimit-Remaining", "0"), reset]) == .seconds(30))
    #expect(wait(403, [("RateLimit", #""default";r=0;t=30"#)]) == .seconds(30))
    #expect(wait(403, [("Retry-After", "60")]) == .seconds(60))
    #expect(wait(403, [reset]) == nil)
    #expect(wait(403, [("X-RateLimit-Remaining", "12"), reset]) == nil)
    #expect(wait(403, [("RateLimit", #""default";t=30"#)]) == nil)
    for status in [200, 400, 401, 409, 500, 503] {
      #expect(wait(status, [("X-RateLimit-Remaining", "0"), reset]) == nil)
    }
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
