/// The last successful response to a GET, cached for use when the API fails (RFC 9111, section 3; RFC 5861, section 4).
///
/// Of the `Cache-Control` directives, only `no-store` prevents caching, because callers explicitly ask for old
/// responses and learn their age. `no-cache` and `must-revalidate` are ignored, because many frameworks send them with
/// every response.
package struct StoredResponse: Hashable, Sendable {
  /// The headers, except those that concern only a connection or a single exchange.
  package let headers: [APIRequest.Header]
  package let body: [UInt8]
  /// The names of the request fields that selected this response, sorted and in lower case (`Vary`; RFC 9110, section
  /// 12.5.5).
  package let selectors: [String]
  /// The time at which the API sent or last confirmed the response.
  package let confirmedAt: Timestamp
  /// The age of the response at `confirmedAt` (`Age`; RFC 9111, section 5.1).
  package let initialAge: Duration
  /// Whether the API can confirm the response. This is impossible after a redirect.
  package let isValidatable: Bool

  package init(
    headers: [APIRequest.Header], body: [UInt8], selectors: [String], confirmedAt: Timestamp, initialAge: Duration,
    isValidatable: Bool
  ) {
    (self.headers, self.body, self.selectors) = (headers, body, selectors)
    (self.confirmedAt, self.initialAge, self.isValidatable) = (confirmedAt, initialAge, isValidatable)
  }

  /// Returns `nil` if the response must not be cached, or if it is compressed, which would hide secrets in it.
  package init?(_ response: APIResponse, isRedirected: Bool, at now: Timestamp) {
    let fields = ResponseFields(response.headers)
    guard response.status == 200, !response.isTruncated, !fields.directives("cache-control").keys.contains("no-store"),
      let selectors = fields.selectors, !response.isCompressed
    else { return nil }
    self.init(
      headers: response.headers.filter(\.isKept), body: response.body, selectors: selectors, confirmedAt: now,
      initialAge: fields.age,
      isValidatable: !isRedirected)
  }

  /// Returns a request that asks the API to confirm the response (RFC 9110, section 13.1), or `nil` if the response has
  /// no validator or followed a redirect.
  package func validation(of request: APIRequest) -> APIRequest? {
    guard isValidatable else { return nil }
    let conditions = [("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")].compactMap { name, condition in
      headers.first { $0.name.lowercased() == name }.map { APIRequest.Header(name: condition, value: $0.value) }
    }
    guard !conditions.isEmpty else { return nil }
    var request = request
    request.headers += conditions
    return request
  }

  /// Returns the response with the updated fields of a 304 (RFC 9111, section 3.2), or `nil` if the response may no
  /// longer be cached.
  package func confirmed(by response: APIResponse, at now: Timestamp) -> StoredResponse? {
    StoredResponse(answer(confirmedBy: response), isRedirected: false, at: now)
  }

  /// Returns whether the response or its URL contains one of the secrets in any spelling. This is slow for a long body.
  package func repeats(_ secrets: [Secret], at url: String) -> Bool {
    let fields = ([url] + headers.map(\.value)).joined(separator: "\n") + "\n"
    return Redactor(secrets).findsAny(in: Array(fields.utf8) + body)
  }

  /// Returns the response to the caller after a 304: the cached body with the updated fields.
  package func answer(confirmedBy response: APIResponse) -> APIResponse {
    let fresh = response.headers.filter { $0.isKept && !$0.isOfBody }
    let names = Set(fresh.map { $0.name.lowercased() })
    return APIResponse(
      status: 200, headers: headers.filter { !names.contains($0.name.lowercased()) } + fresh, body: body)
  }

  package var answer: APIResponse { APIResponse(status: 200, headers: headers, body: body) }

  /// Returns the age of the response (RFC 9111, section 4.2.3).
  package func age(at now: Timestamp) -> Duration { max(now - confirmedAt, .zero) + initialAge }

  /// Returns whether the response may replace an error. The only restriction is a time limit that the API has set
  /// (`stale-if-error`; RFC 5861, section 4).
  package func mayAnswerStale(at now: Timestamp) -> Bool {
    let directives = ResponseFields(headers).directives("cache-control")
    guard let limit = directives["stale-if-error"]?.deltaSeconds else { return true }
    return age(at: now) <= (directives["max-age"]?.deltaSeconds ?? .zero) + limit
  }

  /// The size that counts towards the cache limits, in bytes.
  package var size: Int { headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

extension APIRequest {
  /// Whether the response to this request may be cached. The request must be a GET without a body, a token in its URL,
  /// a range, a condition or `no-store`.
  package var hasAnswerToKeep: Bool {
    let own: Set = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    // The query can contain a token (RFC 6750, section 2.3), which must not be stored in the cache.
    let hasTokenInAddress = QueryFields(ofTarget: url.target).has("access_token")
    return method == "GET" && body.isEmpty && !hasTokenInAddress
      && !headers.contains { own.contains($0.name.lowercased()) }
      && !ResponseFields(headers).directives("cache-control").keys.contains("no-store")
  }
}

extension APIResponse {
  /// Whether the response is a server error that a cached response may replace (RFC 5861, section 4).
  package var isServerError: Bool { [500, 502, 503, 504].contains(status) }

  /// Whether the body is compressed. If so, its text cannot be searched (RFC 9110, section 8.4; RFC 1952, section
  /// 2.3.1).
  package var isCompressed: Bool {
    let codings = headers.filter { $0.name.lowercased() == "content-encoding" }.map { $0.value.lowercased() }
    return codings.contains { $0 != "identity" } || body.starts(with: [0x1F, 0x8B])
  }

  /// Whether the resource is gone or no longer accessible to this user (RFC 9110, sections 15.5.4, 15.5.5 and 15.5.11),
  /// so that its cached responses must be removed.
  package var takesEarlierAnswersBack: Bool { [403, 404, 410].contains(status) }
}

extension Failure {
  /// Whether the provider returned no token, or the request failed and can be retried. A cached response may then be
  /// returned instead.
  package var isOutage: Bool { kind == .refreshUnavailable || kind == .requestFailed && isRetryable }

  /// Whether the API requires more than a fresh token, so that the cached response must be removed.
  package var takesEarlierAnswersBack: Bool { kind == .challenge }
}

extension APIRequest.Header {
  private static let fleeting: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "set-cookie", "age",
  ]

  /// Whether the field is cached. Fields that concern only a connection or a single exchange are not cached (RFC 9111,
  /// section 3.1).
  fileprivate var isKept: Bool { !Self.fleeting.contains(name.lowercased()) }

  /// Whether the field describes the body. A 304 has no body (RFC 9110, section 15.4.5), so its values for these fields
  /// are ignored.
  fileprivate var isOfBody: Bool {
    ["content-length", "content-encoding", "content-type", "content-range"].contains(name.lowercased())
  }
}

/// The key of a cached response: account, user, URL and the request's header fields.
package struct ResponseKey: Hashable, Sendable {
  package let account: AccountName
  package let subject: Subject
  package let url: String
  private let headers: [APIRequest.Header]

  package init(account: AccountName, subject: Subject, request: APIRequest) {
    self.account = account
    self.subject = subject
    url = request.url.description
    headers = request.headers
  }

  /// Returns the values of these fields in the request. Their names must be in lower case. Two requests for the same
  /// URL may share a response if the results are equal (RFC 9111, section 4.1).
  package func selection(by names: [String]) -> String {
    names.map { name in
      let values = headers.filter { $0.name.lowercased() == name }.map { $0.value[...].trimmed }
      return values.isEmpty ? "" : name + ":" + values.joined(separator: ",")
    }.joined(separator: "\n")
  }
}

/// Parses the header fields that control caching.
struct ResponseFields {
  private let headers: [APIRequest.Header]

  init(_ headers: [APIRequest.Header]) { self.headers = headers }

  /// Returns the elements of a list field (RFC 9110, section 5.6.1). Commas in quotes also split the list, which is
  /// harmless here.
  private func elements(_ name: String) -> [Substring] {
    headers.filter { $0.name.lowercased() == name }
      .flatMap { $0.value.split(separator: ",") }
      .map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// Returns the directives and their values, with names in lower case (RFC 9111, section 5.2).
  func directives(_ name: String) -> [String: String] {
    let pairs = elements(name).map { element in
      let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1].trimmed.filter { $0 != "\"" }) : ""
      return (parts[0].trimmed.lowercased(), value)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The sorted names in `Vary`, or `nil` if `Vary` is `*`, in which case no other request matches (RFC 9111, section
  /// 4.1).
  var selectors: [String]? {
    let names = Set(elements("vary").map { $0.lowercased() })
    // Ignore `Authorization`, because the key contains the user and the token changes with each refresh.
    return names.contains("*") ? nil : names.subtracting(["authorization"]).sorted()
  }

  var age: Duration { elements("age").first.flatMap { String($0).deltaSeconds } ?? .zero }
}

extension String {
  /// The number of seconds in this string (RFC 9111, section 1.2.2), at most 2^31, or `nil` if it is not a number.
  var deltaSeconds: Duration? {
    guard !isEmpty, utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return .seconds(min(Int64(self) ?? 1 << 31, 1 << 31))
  }
}

extension Substring {
  /// The substring without leading and trailing white space (RFC 9110, section 5.5).
  fileprivate var trimmed: Substring {
    let tail = drop { $0 == " " || $0 == "\t" }
    guard let last = tail.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return tail[...last]
  }
}
