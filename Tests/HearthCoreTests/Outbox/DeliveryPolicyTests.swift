import TestSupport
import Testing

@testable import HearthCore

@Suite struct DeliveryPolicyTests {
  let now = Sample.start
  let policy = DeliveryPolicy(OutboxSettings())

  func delivery(
    method: String = "POST", attempts: Int = 0, conflicts: Int = 0, unknownSince: Timestamp? = nil
  ) throws -> Delivery {
    let request = APIRequest(
      method: method, url: try #require(Sample.url), headers: [], body: [], idempotencyKey: "k")
    let item = OutboxItem(
      id: "1", account: Sample.work, subject: Sample.alice, lane: "default", method: method,
      url: request.url.description, state: .inFlight, attempts: attempts, createdAt: now, idempotencyKey: "k", bytes: 0)
    var progress = ItemProgress(at: now)
    (progress.attempts, progress.conflicts, progress.unknownSince) = (attempts, conflicts, unknownSince)
    return Delivery(number: 1, item: item, progress: progress, request: request)
  }

  func outcome(
    _ status: Int, retryAfter: Duration? = nil, attempts: Int = 0, conflicts: Int = 0,
    as override: DeliveryOverrides.Outcome? = nil
  ) throws -> DeliveryOutcome {
    policy.outcome(
      on: APIResponse(status: status, body: Array("no good".utf8), retryAfter: retryAfter),
      to: try delivery(attempts: attempts, conflicts: conflicts),
      overriding: DeliveryOverrides(override.map { [status: $0] } ?? [:]), sentAt: now - .seconds(9), at: now, random: 0
    )
  }

  @Test("Every 2xx delivers", arguments: [200, 201, 202, 204, 206, 299])
  func delivers(_ status: Int) throws {
    #expect(try outcome(status) == .delivered(status: status))
  }

  @Test("A redirect is never followed", arguments: [300, 301, 302, 303, 304, 307, 308])
  func redirects(_ status: Int) throws {
    guard case .dead(.redirected, status, _) = try outcome(status) else {
      Issue.record("\(status) is not dead, redirected")
      return
    }
  }

  @Test(
    "A failure that may be temporary is retried, and the attempt counts",
    arguments: [408, 409, 423, 425, 429, 500, 502, 503, 504, 506, 507, 508, 520, 599])
  func waits(_ status: Int) throws {
    guard case .waiting(let wait) = try outcome(status) else {
      Issue.record("\(status) does not wait")
      return
    }
    #expect(wait.duration == .milliseconds(500))
    #expect(wait.status == status)
    #expect(wait.isConflict == (status == 409))
    #expect(wait.unknownFor == ([502, 504].contains(status) ? .seconds(9) : nil))
  }

  @Test(
    "A request that the server rejects is dead, including an update that gets a 404",
    arguments: [400, 402, 403, 404, 405, 406, 410, 411, 412, 413, 415, 422, 428, 431, 451, 501, 505])
  func rejects(_ status: Int) throws {
    #expect(try outcome(status) == .dead(.rejected, status: status, error: "\(status): no good"))
  }

  @Test(
    "A rejection with a Retry-After waits that long, and the attempt counts; other rejections are dead",
    arguments: [403, 409, 413, 423, 425, 429])
  func refusesForNow(_ status: Int) throws {
    guard case .waiting(let wait) = try outcome(status, retryAfter: .seconds(120)),
      case .waiting(let shorter) = try outcome(status, retryAfter: .zero),
      case .waiting(let longest) = try outcome(status, retryAfter: .seconds(90_000))
    else {
      Issue.record("\(status) does not wait")
      return
    }
    #expect(wait.duration == .seconds(120) && wait.status == status && wait.unknownFor == nil)
    #expect(shorter.duration == .milliseconds(500) && longest.duration == .seconds(86_400))
    guard case .dead(.attemptsExhausted, status, _) = try outcome(status, retryAfter: .seconds(1), attempts: 29) else {
      Issue.record("Attempts do not run out")
      return
    }
    for other in [400, 401, 402, 404, 410, 412, 422, 501, 505] {
      #expect(
        try outcome(other, retryAfter: .seconds(120)) == .dead(.rejected, status: other, error: "\(other): no good"))
    }
  }

  @Test("An API that wants more than the token is not waited for, whatever its Retry-After says")
  func stepUpGoesFirst() throws {
    let header = APIRequest.Header(name: "WWW-Authenticate", value: #"Bearer error="insufficient_scope""#)
    let answer = APIResponse(status: 403, headers: [header], retryAfter: .seconds(60))
    let challenge = try #require(Challenge(answer, from: Sample.origin, without: []))
    let outcome = policy.outcome(
      on: answer, challenge, to: try delivery(), overriding: DeliveryOverrides(), sentAt: now, at: now, random: 0)
    #expect(outcome == .needsStepUp(status: 403, error: challenge.sentence))
  }

  @Test("The configuration decides about a rejection with a Retry-After")
  func overriddenRefusalForNow() throws {
    let error = "The account's configuration says not to retry: 403: no good"
    #expect(
      try outcome(403, retryAfter: .seconds(60), as: .dead) == .dead(.rejected, status: 403, error: error))
    guard case .waiting = try outcome(403, as: .retry) else {
      Issue.record("A plain 403 does not wait")
      return
    }
  }

  @Test("A response of a proxy or a captive portal is not an answer of the API", arguments: [407, 511])
  func offline(_ status: Int) {
    #expect(DeliveryPolicy.meansOffline(APIResponse(status: status)))
    #expect(!DeliveryPolicy.meansOffline(APIResponse(status: 503)))
  }

  private static func request(accept: String? = nil) -> APIRequest {
    APIRequest(
      method: "POST", url: Sample.url!, headers: accept.map { [APIRequest.Header(name: "aCCept", value: $0)] } ?? [],
      body: [], idempotencyKey: nil)
  }

  private static func page(_ type: String?, _ body: String = "") -> APIResponse {
    APIResponse(
      status: 200, headers: type.map { [APIRequest.Header(name: "Content-TYPE", value: $0)] } ?? [],
      body: Array(body.utf8))
  }

  @Test(
    "A success with HTML does not count as delivered if JSON is expected",
    arguments: [
      page("text/html"), page("Text/HTML; charset=utf-8"), page("application/xhtml+xml"),
      page(nil, "\n <!DOCTYPE html><html>"), page(nil, "<HTML>"),
    ])
  func portal(_ response: APIResponse) {
    func isPage(_ accept: String?, _ expected: ExpectedContent?) -> Bool {
      DeliveryPolicy.isPageForJSON(response, to: Self.request(accept: accept), expecting: expected)
    }
    #expect(isPage(nil, .json) && isPage("text/html", .json))
    #expect(isPage("application/json", nil) && isPage("application/vnd.api+JSON; q=0.9", nil))
    #expect(!isPage(nil, nil) && !isPage("application/json, */*", nil) && !isPage("text/html", nil))
    #expect(!isPage("application/json, text/html;q=0.5", nil))
    #expect(!DeliveryPolicy.meansOffline(response), "nobody else answers for a verified origin")
    var rejection = response
    rejection.status = 404
    #expect(!DeliveryPolicy.isPageForJSON(rejection, to: Self.request(), expecting: .json))
  }

  @Test(
    "A success with anything but HTML counts as delivered if JSON is expected: many APIs answer a write with nothing",
    arguments: [page("application/json", "{}"), page(nil), page(nil, "{}"), page("text/plain", "ok"), page("", "<x>")])
  func noPortal(_ response: APIResponse) {
    #expect(!DeliveryPolicy.isPageForJSON(response, to: Self.request(), expecting: .json))
  }

  @Test("Retry-After is the minimum wait, up to 24 hours")
  func retryAfter() throws {
    func wait(_ retryAfter: Duration) throws -> Duration? {
      if case .waiting(let wait) = try outcome(503, retryAfter: retryAfter, attempts: 4) { wait.duration } else { nil }
    }
    #expect(try wait(.seconds(3)) == .seconds(8))
    #expect(try wait(.seconds(120)) == .seconds(120))
    #expect(try wait(.seconds(90_000)) == .seconds(86_400))
  }

  @Test("A 409 is retried five times, then it is final; with Retry-After it is retried as long as the server says")
  func conflicts() throws {
    guard case .waiting = try outcome(409, attempts: 4, conflicts: 4) else {
      Issue.record("The fifth does not wait")
      return
    }
    #expect(try outcome(409, attempts: 5, conflicts: 5) == .dead(.rejected, status: 409, error: "409: no good"))
    guard case .waiting(let wait) = try outcome(409, retryAfter: .seconds(9), attempts: 5, conflicts: 5) else {
      Issue.record("The sixth, with Retry-After, does not wait")
      return
    }
    #expect(wait.duration >= .seconds(9) && !wait.isConflict)
  }

  @Test(
    "If the configuration says to retry a status, it waits like any other, and the error says so",
    arguments: [302, 404, 501])
  func overriddenRetry(_ status: Int) throws {
    guard case .waiting(let wait) = try outcome(status, retryAfter: .seconds(7), as: .retry) else {
      Issue.record("It does not wait")
      return
    }
    #expect(wait.duration == .seconds(7) && wait.status == status && wait.unknownFor == nil)
    #expect(wait.error == "The server returned HTTP \(status), and the account's configuration says to retry.")
    guard case .dead(.attemptsExhausted, status, _) = try outcome(status, attempts: 29, as: .retry) else {
      Issue.record("Attempts do not run out")
      return
    }
  }

  @Test("A retry by the configuration keeps the result unknown, and lifts the limit for conflicts")
  func overriddenRetryOfUnknown() throws {
    guard case .waiting(let wait) = try outcome(504, as: .retry),
      case .waiting(let conflict) = try outcome(409, attempts: 5, conflicts: 5, as: .retry)
    else {
      Issue.record("They do not wait")
      return
    }
    #expect(wait.unknownFor == .seconds(9))
    #expect(conflict.isConflict)
  }

  @Test("The configuration makes a status dead, with the answer, or delivered, and the item says so")
  func overriddenEnd() throws {
    let error = "The account's configuration says not to retry: 503: no good"
    #expect(try outcome(503, as: .dead) == .dead(.rejected, status: 503, error: error))
    #expect(try outcome(409, as: .delivered) == .delivered(status: 409))
    var progress = ItemProgress(at: now)
    progress.settle(.delivered(status: 409), at: now)
    #expect(
      progress.lastError == "The server returned HTTP 409, which the account's configuration counts as delivered.")
    progress = ItemProgress(at: now)
    progress.settle(.delivered(status: 201), at: now)
    #expect(progress.lastError == nil)
  }

  @Test("The number of attempts is limited, whatever the failure is")
  func exhausted() throws {
    guard case .waiting = try outcome(503, attempts: 28) else {
      Issue.record("The 29th does not wait")
      return
    }
    guard case .dead(.attemptsExhausted, 503, _) = try outcome(503, attempts: 29),
      case .dead(.attemptsExhausted, nil, _) = policy.outcome(
        unanswered: "reset", try delivery(attempts: 29), sentAt: now, at: now, random: 0)
    else {
      Issue.record("The 30th is not the last")
      return
    }
  }

  @Test("Without an answer, the item's result is unknown since it was sent")
  func unanswered() throws {
    let sentAt = now - .seconds(9)
    guard
      case .waiting(let wait) = policy.outcome(
        unanswered: "reset", try delivery(), sentAt: sentAt, at: now, random: 0)
    else {
      Issue.record("It does not wait")
      return
    }
    #expect(wait.unknownFor == now - sentAt)
    #expect(wait.error == "reset")
  }

  @Test("An item with an unknown result waits at most until the horizon, unless its method may be repeated")
  func horizonOfWaits() throws {
    let sentAt = now - .seconds(24 * 3600 - 60)
    for (method, wait) in [("POST", Duration.milliseconds(60_001)), ("PUT", .seconds(7200))] {
      let delivery = try delivery(method: method, unknownSince: sentAt)
      let answer = APIResponse(status: 503, retryAfter: .seconds(7200))
      guard
        case .waiting(let outcome) = policy.outcome(
          on: answer, to: delivery, overriding: DeliveryOverrides(), sentAt: now, at: now, random: 0)
      else {
        Issue.record("It does not wait")
        return
      }
      #expect(outcome.duration == wait)
      #expect(policy.mayBeSent(method: method, unknownSince: sentAt, at: now + outcome.duration) == (method == "PUT"))
    }
  }

  @Test("After the horizon an item is sent again only if its method may be repeated")
  func horizon() {
    let longAgo = now - .seconds(24 * 3600 + 1)
    for method in ["POST", "PATCH", "post", "MERGE"] {
      #expect(!policy.mayBeSent(method: method, unknownSince: longAgo, at: now))
      #expect(policy.mayBeSent(method: method, unknownSince: now - .seconds(24 * 3600), at: now))
      #expect(policy.mayBeSent(method: method, unknownSince: nil, at: now))
    }
    for method in ["PUT", "DELETE", "GET"] {
      #expect(policy.mayBeSent(method: method, unknownSince: longAgo, at: now))
    }
  }

  @Test("A NUL in an answer does not truncate what is shown of it")
  func answerWithNUL() {
    let answer = APIResponse(status: 400, body: Array("ab\0cd".utf8))
    #expect(policy.rejected(answer) == .dead(.rejected, status: 400, error: "400: ab cd"))
  }

  @Test("The first 4 KiB of a long answer are kept")
  func longAnswer() throws {
    let answer = APIResponse(status: 422, body: Array(repeating: UInt8(ascii: "x"), count: 10_000))
    guard case .dead(.rejected, 422, let error) = policy.rejected(answer) else {
      Issue.record("It is not dead")
      return
    }
    #expect(error.utf8.count == 4096 + 5)
  }
}

@Suite struct RetryPolicyTests {
  let retry = RetryPolicy(initial: .seconds(1), max: .seconds(3600))

  @Test("A step doubles, and the wait is between half of it and all of it")
  func doubles() {
    #expect(retry.wait(failures: 1, random: 0) == .milliseconds(500))
    #expect(retry.wait(failures: 1, random: 1) == .seconds(1))
    #expect(retry.wait(failures: 4, random: 0) == .seconds(4))
    #expect(retry.wait(failures: 4, random: 0.5) == .seconds(6))
    #expect(retry.wait(failures: 500, random: 1) == .seconds(3600))
  }
}

@Suite struct OriginReachTests {
  let now = Sample.start
  let origin = Sample.origin

  @Test("An unreachable origin is probed with one request, after growing waits")
  func probes() {
    var reach = CircuitBreaker(RetryPolicy(initial: .seconds(1), max: .seconds(60)))
    #expect(reach.probeTime(of: origin) == nil)
    let first = reach.failed(origin, at: now, random: 1)
    #expect(first == now + .seconds(1))
    #expect(reach.failed(origin, at: now, random: 1) == first)
    #expect(reach.probeTime(of: origin) == first)
    reach.probing(origin)
    #expect(reach.probeTime(of: origin) == .distantFuture)
    #expect(reach.nextProbeAt == nil)
    #expect(reach.failed(origin, at: first, random: 1) == first + .seconds(2))
    reach.answered(origin)
    #expect(reach.probeTime(of: origin) == nil)
  }

  @Test("When the network returns, one probe is sent at once")
  func hastens() {
    var reach = CircuitBreaker(RetryPolicy(initial: .seconds(60), max: .seconds(60)))
    _ = reach.failed(origin, at: now, random: 1)
    reach.retryNow(at: now)
    #expect(reach.probeTime(of: origin) == now)
  }

  @Test("If there is no item to probe with, nothing is due")
  func idle() {
    var reach = CircuitBreaker(RetryPolicy(initial: .seconds(1), max: .seconds(60)))
    let probeAt = reach.failed(origin, at: now, random: 1)
    reach.nothingToProbe(origin, at: now)
    #expect(reach.nextProbeAt == probeAt, "it is not to be probed yet: another outage was meant")
    reach.nothingToProbe(origin, at: probeAt)
    #expect(reach.nextProbeAt == nil)
    #expect(reach.probeTime(of: origin) == probeAt)
  }
}

@Suite struct ItemIDTests {
  @Test("An identifier is a UUID of version 7 that sorts by time")
  func uuid() {
    let early = OutboxItem.makeID(at: Timestamp(milliseconds: 0x0123_4567_89AB), random: (.max, .max))
    #expect(early == "01234567-89ab-7fff-bfff-ffffffffffff")
    #expect(early < OutboxItem.makeID(at: Timestamp(milliseconds: 0x0123_4567_89AC), random: (0, 0)))
  }
}
