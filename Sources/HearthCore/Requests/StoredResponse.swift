/// The last successful answer to a GET, kept for when the API gives none (RFC 9111, section 3; RFC 5861, section 4).
///
/// Only `no-store` prevents keeping: callers ask for old answers explicitly and learn their age. So `no-cache` and
/// `must-revalidate`, which many frameworks send with everything, do not apply.
package struct StoredResponse: Hashable, Sendable {
  /// The headers without those of one connection or one exchange.
  package let headers: [APIRequest.Header]
  package let body: [UInt8]
  /// The request fields that selected this answer, in lower case and in order (`Vary`; RFC 9110, section 12.5.5).
  package let selectors: [String]
  /// When the API gave or confirmed it.
  package let confirmedAt: Timestamp
  /// How old it was by then (`Age`; RFC 9111, section 5.1).
  package let initialAge: Duration
  /// Whether the API can confirm the answer, because it came from the requested URL.
  package let isValidatable: Bool

  package init(
    headers: [APIRequest.Header], body: [UInt8], selectors: [String], confirmedAt: Timestamp, initialAge: Duration,
    isValidatable: Bool
  ) {
    (self.headers, self.body, self.selectors) = (headers, body, selectors)
    (self.confirmedAt, self.initialAge, self.isValidatable) = (confirmedAt, initialAge, isValidatable)
  }

  /// Returns `nil` if the answer may not be kept, or is compressed, so that secrets in it cannot be seen.
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

  /// The request that asks the API whether the answer is still valid. `nil` if it has no validator (RFC 9110, section
  /// 13.1).
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

  /// The answer after a 304, with its new fields (RFC 9111, section 3.2). `nil` if it may no longer be kept.
  package func confirmed(by response: APIResponse, at now: Timestamp) -> StoredResponse? {
    StoredResponse(answer(confirmedBy: response), isRedirected: false, at: now)
  }

  /// Whether the answer or its URL contains one of the secrets, in any spelling. Slow for a long answer.
  package func repeats(_ secrets: [Secret], at url: String) -> Bool {
    let fields = ([url] + headers.map(\.value)).joined(separator: "\n") + "\n"
    return Redactor(secrets).findsAny(in: Array(fields.utf8) + body)
  }

  /// What the caller gets after a 304: the known body with the new fields.
  package func answer(confirmedBy response: APIResponse) -> APIResponse {
    let fresh = response.headers.filter { $0.isKept && !$0.isOfBody }
    let names = Set(fresh.map { $0.name.lowercased() })
    return APIResponse(
      status: 200, headers: headers.filter { !names.contains($0.name.lowercased()) } + fresh, body: body)
  }

  package var answer: APIResponse { APIResponse(status: 200, headers: headers, body: body) }

  /// The current age (RFC 9111, section 4.2.3).
  package func age(at now: Timestamp) -> Duration { max(now - confirmedAt, .zero) + initialAge }

  /// Whether it may replace an error: always, unless the API has set a time limit (RFC 5861, section 4).
  package func mayAnswerStale(at now: Timestamp) -> Bool {
    let directives = ResponseFields(headers).directives("cache-control")
    guard let limit = directives["stale-if-error"]?.deltaSeconds else { return true }
    return age(at: now) <= (directives["max-age"]?.deltaSeconds ?? .zero) + limit
  }

  /// The size that counts towards the limits, in bytes.
  package var size: Int { headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

extension APIRequest {
  /// Whether its answer may be kept and returned again. A partial answer, or one to a conditional request, may not.
  package var hasAnswerToKeep: Bool {
    let own: Set = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    // RFC 6750, section 2.3.
    let hasTokenInAddress = QueryFields(ofTarget: url.target).has("access_token")
    return method == "GET" && body.isEmpty && !hasTokenInAddress
      && !headers.contains { own.contains($0.name.lowercased()) }
      && !ResponseFields(headers).directives("cache-control").keys.contains("no-store")
  }
}

extension APIResponse {
  /// Whether it is a server error that an earlier answer may replace (RFC 5861, section 4).
  package var isServerError: Bool { [500, 502, 503, 504].contains(status) }

  /// Whether the body is compressed, so that its text is not visible (RFC 9110, section 8.4; RFC 1952, section 2.3.1).
  package var isCompressed: Bool {
    let codings = headers.filter { $0.name.lowercased() == "content-encoding" }.map { $0.value.lowercased() }
    return codings.contains { $0 != "identity" } || body.starts(with: [0x1F, 0x8B])
  }

  /// Whether the resource is gone or no longer for this user (RFC 9110, sections 15.5.4, 15.5.5 and 15.5.11).
  package var takesEarlierAnswersBack: Bool { [403, 404, 410].contains(status) }
}

extension RequestFailure {
  /// Whether the API could not be asked or did not answer.
  package var isOutage: Bool {
    switch self {
    case .unanswered, .refreshUnavailable: true
    case .invalidRequest, .unknownAccount, .originNotAllowed, .noSession, .otherUser, .tooLong, .tooMany, .withheld,
      .stopping, .challenge:
      false
    }
  }

  /// Whether answers that were kept earlier must not be returned to this sign-in any more.
  package var takesEarlierAnswersBack: Bool { if case .challenge = self { true } else { false } }
}

extension APIRequest.Header {
  private static let fleeting: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "set-cookie", "age",
  ]

  /// Whether the field is kept. Fields that concern only a connection or one exchange are not (RFC 9111, section 3.1).
  fileprivate var isKept: Bool { !Self.fleeting.contains(name.lowercased()) }

  /// Whether the field describes a body, which a 304 does not have (RFC 9110, section 15.4.5).
  fileprivate var isOfBody: Bool {
    ["content-length", "content-encoding", "content-type", "content-range"].contains(name.lowercased())
  }
}

/// Identifies a cached answer: this user's GET of a URL, with the request's header fields.
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

  /// The request's values of these fields, whose names are in lower case. Two requests for one URL with the same text
  /// may share an answer (RFC 9111, section 4.1).
  package func selection(by names: [String]) -> String {
    names.map { name in
      let values = headers.filter { $0.name.lowercased() == name }.map { $0.value[...].trimmed }
      return values.isEmpty ? "" : name + ":" + values.joined(separator: ",")
    }.joined(separator: "\n")
  }
}

/// What header fields say about caching an answer.
struct ResponseFields {
  private let headers: [APIRequest.Header]

  init(_ headers: [APIRequest.Header]) { self.headers = headers }

  /// The elements of a list field (RFC 9110, section 5.6.1). Commas inside quotes split too, which does no harm.
  private func elements(_ name: String) -> [Substring] {
    headers.filter { $0.name.lowercased() == name }
      .flatMap { $0.value.split(separator: ",") }
      .map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// Directives by their names in lower case, with their values (RFC 9111, section 5.2).
  func directives(_ name: String) -> [String: String] {
    let pairs = elements(name).map { element in
      let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1].trimmed.filter { $0 != "\"" }) : ""
      return (parts[0].trimmed.lowercased(), value)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The names in `Vary`, sorted. `nil` if it says that no other request matches (RFC 9111, section 4.1).
  var selectors: [String]? {
    let names = Set(elements("vary").map { $0.lowercased() })
    // The key already has the user; the token itself changes with each refresh.
    return names.contains("*") ? nil : names.subtracting(["authorization"]).sorted()
  }

  var age: Duration { elements("age").first.flatMap { String($0).deltaSeconds } ?? .zero }
}

extension String {
  /// Parses RFC 9111, section 1.2.2. A number that is too large counts as 2^31.
  var deltaSeconds: Duration? {
    guard !isEmpty, utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return .seconds(min(Int64(self) ?? 1 << 31, 1 << 31))
  }
}

extension Substring {
  /// The text without the white space that has no meaning in a header field (RFC 9110, section 5.5).
  fileprivate var trimmed: Substring {
    let tail = drop { $0 == " " || $0 == "\t" }
    guard let last = tail.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return tail[...last]
  }
}
