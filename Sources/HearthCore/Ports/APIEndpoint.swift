/// Sends HTTP requests to APIs, without following redirects and without retrying.
package protocol APIEndpoint: Sendable {
  /// Sends a request with the account's connection settings and returns the response. With a `responseLimit`, `timeout`
  /// covers the whole exchange. Without a limit, the timeout restarts whenever more of the request's body has been
  /// sent.
  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse
}

package struct APIRequest: Hashable, Sendable {
  package var method: String
  package var url: HTTPURL
  /// The caller's headers, in order, without the headers that only Hearth may set.
  package var headers: [Header]
  package var body: [UInt8]
  /// The length of a body that an `APIExchange` sends in pieces, or `nil` if the whole body is in `body`.
  package var upload: Upload?
  package var idempotencyKey: String?
  /// The maximum size of the response body, in bytes. A longer body is truncated. If `nil`, only the status matters,
  /// and only the start of the body is read.
  package var responseLimit: Int?

  package enum Upload: Hashable, Sendable {
    /// The length in bytes, sent as `Content-Length` (RFC 9110, section 8.6).
    case sized(Int)
    /// The length is unknown, so the body uses the chunked transfer coding (RFC 9112, section 7.1).
    case chunked
  }

  package struct Header: Hashable, Sendable {
    private static let own: Set<String> = [
      "authorization", "idempotency-key", "host", "content-length", "transfer-encoding", "connection",
    ]

    package var name: String
    package var value: String

    package var isOwn: Bool { Self.own.contains(name.lowercased()) }

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }

    /// Whether the value contains no control characters other than tabs (RFC 9110, section 5.5).
    package var hasFieldValue: Bool { value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F } }

    package var byteCount: Int { name.utf8.count + value.utf8.count }
  }

  package init(
    method: String, url: HTTPURL, headers: [Header], body: [UInt8], idempotencyKey: String?, responseLimit: Int? = nil
  ) {
    (self.method, self.url, self.headers) = (method, url, headers)
    (self.body, self.idempotencyKey, self.responseLimit) = (body, idempotencyKey, responseLimit)
  }

  /// Whether the `Accept` header (RFC 9110, section 12.5.1) includes JSON but neither HTML nor `*/*`.
  var acceptsOnlyJSON: Bool {
    let accepted = headers.filter { $0.name.lowercased() == "accept" }.map { $0.value.lowercased() }
    return accepted.contains { $0.contains("json") }
      && !accepted.contains { $0.contains("html") || $0.contains("*/*") }
  }

  /// The maximum size of a piece of a body, in bytes.
  package static let pieceLimit = 256 << 10
}

package struct APIResponse: Hashable, Sendable {
  package var status: Int
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  /// Whether `body` is incomplete because it was too long or, without a `responseLimit`, because it was too slow or the
  /// connection broke.
  package var isTruncated: Bool
  /// How long the server asks the client to wait, with `Retry-After` (RFC 9110, section 10.2.3) or with the headers of
  /// an exhausted quota.
  package var retryAfter: Duration?
  /// The server's clock (`Date`) minus this machine's clock, or `nil` if the response has no `Date`.
  package var skew: Duration?

  package init(
    status: Int, headers: [APIRequest.Header] = [], body: [UInt8] = [], isTruncated: Bool = false,
    retryAfter: Duration? = nil, skew: Duration? = nil
  ) {
    (self.status, self.headers, self.body) = (status, headers, body)
    (self.isTruncated, self.retryAfter, self.skew) = (isTruncated, retryAfter, skew)
  }

  /// Whether the response is HTML according to its `Content-Type` or, without that header, the start of the body.
  var isHTML: Bool {
    if let type = headers.first(where: { $0.name.lowercased() == "content-type" })?.value.lowercased() {
      return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml")
    }
    let start = String(decoding: body.prefix(256), as: UTF8.self).lowercased().drop(while: \.isWhitespace)
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }
}

/// The reason why a request got no complete response. Messages are for users and contain no secrets.
package enum ExchangeFailure: Error, Hashable, Sendable {
  /// No part of the request was sent, for example because no connection was established.
  case notSent(message: String)
  /// At least part of the request was sent, so it is unknown whether the server has processed it.
  case unanswered(message: String)

  package var message: String {
    switch self {
    case .notSent(let message), .unanswered(let message): message
    }
  }
}
