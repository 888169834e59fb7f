/// Sends one HTTP request to an API and returns its response. It follows no redirects and does not retry.
package protocol APIEndpoint: Sendable {
  /// Sends the request for `account`, which may have its own connection settings. `timeout` covers the whole exchange
  /// or, for a request without `responseLimit`, each step of its body and then the wait for the response.
  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse
}

package struct APIRequest: Hashable, Sendable {
  package var method: String
  package var url: HTTPURL
  /// The caller's headers in order, without those that only Hearth may set.
  package var headers: [Header]
  package var body: [UInt8]
  /// Set if the body comes in pieces instead of in `body`, for an `APIExchange` only.
  package var upload: Upload?
  package var idempotencyKey: String?
  /// The maximum number of bytes of the response's body; a longer body is truncated. If `nil`, only the status matters,
  /// and the body is read only as far as needed to keep the connection usable.
  package var responseLimit: Int?

  /// The length of a body that comes in pieces.
  package enum Upload: Hashable, Sendable {
    /// The length in bytes, which the server learns before the body (RFC 9110, section 8.6).
    case sized(Int)
    /// The length is unknown until the body ends (RFC 9112, section 7.1).
    case chunked
  }

  package struct Header: Hashable, Sendable {
    private static let own: Set<String> = [
      "authorization", "idempotency-key", "host", "content-length", "transfer-encoding", "connection",
    ]

    package var name: String
    package var value: String

    /// Whether only Hearth may set this header.
    package var isOwn: Bool { Self.own.contains(name.lowercased()) }

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  package init(
    method: String, url: HTTPURL, headers: [Header], body: [UInt8], idempotencyKey: String?, responseLimit: Int? = nil
  ) {
    (self.method, self.url, self.headers) = (method, url, headers)
    (self.body, self.idempotencyKey, self.responseLimit) = (body, idempotencyKey, responseLimit)
  }
}

package struct APIResponse: Hashable, Sendable {
  package var status: Int
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  /// Whether `body` is only the beginning: the rest was too long or, without `responseLimit`, did not come in time.
  package var isTruncated: Bool
  /// The time from now for which the server asks to wait: by `Retry-After` (RFC 9110, section 10.2.3), or by the
  /// headers of a quota that has run out.
  package var retryAfter: Duration?
  /// The server's `Date` minus this machine's clock, or `nil` without a `Date`.
  package var skew: Duration?

  package init(
    status: Int, headers: [APIRequest.Header] = [], body: [UInt8] = [], isTruncated: Bool = false,
    retryAfter: Duration? = nil, skew: Duration? = nil
  ) {
    (self.status, self.headers, self.body) = (status, headers, body)
    (self.isTruncated, self.retryAfter, self.skew) = (isTruncated, retryAfter, skew)
  }
}

extension APIRequest {
  /// Whether `Accept` (RFC 9110, section 12.5.1) names JSON, but neither HTML nor `*/*`.
  var acceptsOnlyJSON: Bool {
    let accepted = headers.filter { $0.name.lowercased() == "accept" }.map { $0.value.lowercased() }
    return accepted.contains { $0.contains("json") }
      && !accepted.contains { $0.contains("html") || $0.contains("*/*") }
  }
}

extension APIResponse {
  /// Whether the response is HTML by its `Content-Type` or, without one, by its beginning.
  var isHTML: Bool {
    if let type = headers.first(where: { $0.name.lowercased() == "content-type" })?.value.lowercased() {
      return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
    }
    let start = String(decoding: body.prefix(256), as: UTF8.self).lowercased().drop(while: \.isWhitespace)
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }
}

/// Why no response came. Messages are for people and hold no secret.
package enum ExchangeFailure: Error, Hashable, Sendable {
  /// No connection was made, so the server has certainly not seen the request.
  case notSent(message: String)
  /// The request was sent and no response came, so it is unknown what the server did.
  case unanswered(message: String)
}
