/// The last good answer to a GET, kept for when the API gives none (RFC 9111, section 3; RFC 5861, section 4).
///
/// Only `no-store` keeps an answer from being kept: who asks for old answers asks for them by name, and is told their age. So
/// `no-cache` and `must-revalidate`, which many frameworks send with everything, are for caches that nobody asked.
package struct StoredResponse: Hashable, Sendable {
  /// Without those of one connection or one exchange.
  package let headers: [APIRequest.Header]
  package let body: [UInt8]
  /// The fields of the request that chose this answer, in lower case and in order (`Vary`; RFC 9110, section 12.5.5).
  package let selectors: [String]
  /// When the API gave or confirmed it.
  package let confirmedAt: Timestamp
  /// How old it was by then (`Age`; RFC 9111, section 5.1).
  package let initialAge: Duration
  /// The API may be asked whether it still holds: the answer came from the address that was asked.
  package let isValidatable: Bool

  package init(
    headers: [APIRequest.Header], body: [UInt8], selectors: [String], confirmedAt: Timestamp, initialAge: Duration,
    isValidatable: Bool
  ) {
    self.headers = headers
    self.body = body
    self.selectors = selectors
    self.confirmedAt = confirmedAt
    self.initialAge = initialAge
    self.isValidatable = isValidatable
  }

  /// It is nil where the answer may not be kept. One that is compressed is not: nobody sees what it repeats.
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

  /// Asks the API whether the answer still holds; nil where it gave nothing to ask with (RFC 9110, section 13.1).
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

  /// The API said 304: its fields take the place of those of before (RFC 9111, section 3.2). Nil where it is not to be kept
  /// any more.
  package func confirmed(by response: APIResponse, at now: Timestamp) -> StoredResponse? {
    StoredResponse(answer(confirmedBy: response), isRedirected: false, at: now)
  }

  /// Whether one of these stands in it, however it is written, or in the address that it is kept under: then it is not kept.
  /// Takes its time with a long answer.
  package func repeats(_ secrets: [Secret], at url: String) -> Bool {
    let fields = ([url] + headers.map(\.value)).joined(separator: "\n") + "\n"
    return Redactor(secrets).findsAny(in: Array(fields.utf8) + body)
  }

  /// What the caller is given after a 304: the body that is known, with the fields of now.
  package func answer(confirmedBy response: APIResponse) -> APIResponse {
    let fresh = response.headers.filter { $0.isKept && !$0.isOfBody }
    let names = Set(fresh.map { $0.name.lowercased() })
    return APIResponse(
      status: 200, headers: headers.filter { !names.contains($0.name.lowercased()) } + fresh, body: body)
  }

  package var answer: APIResponse { APIResponse(status: 200, headers: headers, body: body) }

  /// RFC 9111, section 4.2.3.
  package func age(at now: Timestamp) -> Duration { max(now - confirmedAt, .zero) + initialAge }

  /// Whether it may be given in place of an error: always, unless the API has set a time (RFC 5861, section 4).
  package func mayStandIn(at now: Timestamp) -> Bool {
    let directives = ResponseFields(headers).directives("cache-control")
    guard let limit = directives["stale-if-error"]?.deltaSeconds else { return true }
    return age(at: now) <= (directives["max-age"]?.deltaSeconds ?? .zero) + limit
  }

  /// What it takes of the room that there is, in bytes.
  package var size: Int { headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

extension APIRequest {
  /// Whether its answer may be kept and given another time. Who asks for a part, or has conditions, knows an answer.
  package var hasAnswerToKeep: Bool {
    let own: Set = ["range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"]
    // A token (RFC 6750, section 2.3).
    let hasTokenInAddress = QueryFields(ofTarget: url.target).has("access_token")
    return method == "GET" && body.isEmpty && !hasTokenInAddress
      && !headers.contains { own.contains($0.name.lowercased()) }
      && !ResponseFields(headers).directives("cache-control").keys.contains("no-store")
  }
}

extension APIResponse {
  /// An error of the server in place of which an earlier answer may be given (RFC 5861, section 4).
  package var isServerError: Bool { [500, 502, 503, 504].contains(status) }

  /// Its body shows to nobody what is in it (RFC 9110, section 8.4; RFC 1952, section 2.3.1).
  package var isCompressed: Bool {
    let codings = headers.filter { $0.name.lowercased() == "content-encoding" }.map { $0.value.lowercased() }
    return codings.contains { $0 != "identity" } || body.starts(with: [0x1F, 0x8B])
  }

  /// What was there is gone, or is not for this user any more (RFC 9110, sections 15.5.4, 15.5.5 and 15.5.11).
  package var takesEarlierAnswersBack: Bool { [403, 404, 410].contains(status) }
}

extension RequestFailure {
  /// The API could not be asked, or did not answer.
  package var isOutage: Bool {
    switch self {
    case .unanswered, .refreshUnavailable: true
    case .invalidRequest, .unknownAccount, .originNotAllowed, .noSession, .otherUser, .tooLong, .tooMany, .withheld,
      .stopping, .challenge:
      false
    }
  }

  /// What was there before is not for this sign-in any more.
  package var takesEarlierAnswersBack: Bool { if case .challenge = self { true } else { false } }
}

extension APIRequest.Header {
  private static let fleeting: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "set-cookie", "age",
  ]

  /// Fields of a connection, and what is said of one exchange alone, are not (RFC 9111, section 3.1).
  fileprivate var isKept: Bool { !Self.fleeting.contains(name.lowercased()) }

  /// It describes a body, which a 304 does not have (RFC 9110, section 15.4.5).
  fileprivate var isOfBody: Bool {
    ["content-length", "content-encoding", "content-type", "content-range"].contains(name.lowercased())
  }
}
