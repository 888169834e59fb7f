/// Sends one HTTP request to an API, with a token or without, and returns its response. It follows no redirect and
/// repeats no request.
package protocol APIEndpoint: Sendable {
  /// `account`: whose request it is; an account may have settings of its own for its connections. `timeout`: for all of it
  /// or, for a request without `responseLimit`, for each step of its body and, after the last byte of that, for the response.
  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse
}

package struct APIRequest: Hashable, Sendable {
  package var method: String
  package var url: HTTPURL
  /// The headers of the caller, in order, without those that only Hearth may set.
  package var headers: [Header]
  package var body: [UInt8]
  /// The body comes in pieces, in place of `body`: for an `APIExchange` alone.
  package var upload: Upload?
  package var idempotencyKey: String?
  /// How much of the response's body is needed, in bytes, whole or not at all; nil: its status says enough, and no more is
  /// read than keeps the connection.
  package var responseLimit: Int?

  /// How long a body is that comes in pieces.
  package enum Upload: Hashable, Sendable {
    /// So many bytes, which the server is told before the first (RFC 9110, section 8.6).
    case sized(Int)
    /// Nobody knows before its end (RFC 9112, section 7.1).
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

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package init(
    method: String, url: HTTPURL, headers: [Header], body: [UInt8], idempotencyKey: String?, responseLimit: Int? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.idempotencyKey = idempotencyKey
    self.responseLimit = responseLimit
  }
}

package struct APIResponse: Hashable, Sendable {
  package var status: Int
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  /// `body` is only the beginning: the whole was too long, or, for a request without `responseLimit`, broke off or came too
  /// slowly.
  package var isTruncated: Bool
  /// `Retry-After` in both its forms (RFC 9110, section 10.2.3), as the time to wait from now.
  package var retryAfter: Duration?
  /// The server's `Date` less this machine's clock; nil without one.
  package var skew: Duration?

  package init(
    status: Int, headers: [APIRequest.Header] = [], body: [UInt8] = [], isTruncated: Bool = false,
    retryAfter: Duration? = nil, skew: Duration? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
    self.retryAfter = retryAfter
    self.skew = skew
  }
}

extension APIRequest {
  /// Whether `Accept` (RFC 9110, section 12.5.1) names JSON, and neither HTML nor any type.
  var acceptsOnlyJSON: Bool {
    let accepted = headers.filter { $0.name.lowercased() == "accept" }.map { $0.value.lowercased() }
    return accepted.contains { $0.contains("json") }
      && !accepted.contains { $0.contains("html") || $0.contains("*/*") }
  }
}

extension APIResponse {
  /// By its `Content-Type`, or where it has none by how it begins.
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
  /// No connection: the server has surely not seen the request.
  case notSent(message: String)
  /// The request was sent and no response came: what the server did is unknown.
  case unanswered(message: String)
}
