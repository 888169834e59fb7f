/// A request to an API, as specified by the caller.
package struct RequestDraft: Hashable, Sendable {
  package static let usualTimeout: Duration = .seconds(30)

  package var account: AccountName
  package var method: String
  package var url: String
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  /// The time limit for all exchanges with the API, including redirects and retries, but not for getting a token.
  package var timeout: Duration

  package init(
    account: AccountName, method: String, url: String, headers: [APIRequest.Header] = [], body: [UInt8] = [],
    timeout: Duration = RequestDraft.usualTimeout
  ) {
    (self.account, self.method, self.url) = (account, method, url)
    (self.headers, self.body, self.timeout) = (headers, body, timeout)
  }

  /// Header fields for a connection or a proxy, which callers must not set (RFC 9110, sections 7.6.1 and 11.7).
  private static let connectionFields: Set<String> = [
    "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade",
  ]

  /// Checks the draft, and returns the request. Unlike the headers of an `OutboxDraft`, the headers may contain
  /// `Idempotency-Key`, but none of `connectionFields`. `maxBody` is in bytes.
  package func checked(maxBody: Int) throws -> APIRequest {
    let isKey = { (header: APIRequest.Header) in header.name.lowercased() == "idempotency-key" }
    let keys = headers.filter(isKey)
    guard keys.count <= 1 else { throw Failure.invalidParams("headers must not contain more than one Idempotency-Key") }
    let others = headers.filter { !isKey($0) }
    if let header = others.first(where: { Self.connectionFields.contains($0.name.lowercased()) }) {
      throw Failure.invalidParams("headers must not contain \(header.name), because Hearth manages the connection")
    }
    let key = keys.first?.value
    let url = try DraftRules.checked(
      url, method: method, headers: others, body: body, idempotencyKey: key, maxBody: maxBody)
    return APIRequest(
      method: method, url: url, headers: others, body: body, idempotencyKey: key,
      responseLimit: RequestMachine.responseLimit)
  }
}

/// Whether Hearth may return a cached response if the API fails. The raw value is the value of the `cache` parameter.
package enum RequestCache: String, Hashable, Sendable, CaseIterable {
  case none, staleIfError
}
