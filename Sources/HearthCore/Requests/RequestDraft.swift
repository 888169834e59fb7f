/// A request that a caller wants answered, as the caller gave it.
package struct RequestDraft: Hashable, Sendable {
  /// How long the API may take unless the caller says otherwise.
  package static let usualTimeout: Duration = .seconds(30)

  package var account: AccountName
  package var method: String
  package var url: String
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  /// For all that the API is asked, redirects and a second try included. Waiting for a token has a limit of its own.
  package var timeout: Duration

  package init(
    account: AccountName, method: String, url: String, headers: [APIRequest.Header] = [], body: [UInt8] = [],
    timeout: Duration = RequestDraft.usualTimeout
  ) {
    self.account = account
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

extension RequestDraft {
  /// Fields about one connection, which is not the caller's (RFC 9110, section 7.6.1).
  private static let connectionFields: Set<String> = [
    "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade",
  ]

  /// Checks by the outbox's rules that the request can be sent as it is. Its `Idempotency-Key` is the caller's.
  /// `maxBody` is in bytes.
  package func checked(maxBody: Int) throws(DraftError) -> APIRequest {
    let keys = headers.filter(\.isIdempotencyKey)
    guard keys.count <= 1 else { throw DraftError("headers: there is more than one Idempotency-Key") }
    let others = headers.filter { !$0.isIdempotencyKey }
    if let header = others.first(where: { Self.connectionFields.contains($0.name.lowercased()) }) {
      throw DraftError("headers: \(header.name) is set by Hearth")
    }
    let draft = OutboxDraft(
      account: account, method: method, url: url, headers: others, body: body, isUnordered: true,
      idempotencyKey: keys.first?.value)
    return APIRequest(
      method: method, url: try draft.checked(maxBody: maxBody), headers: others, body: body,
      idempotencyKey: keys.first?.value, responseLimit: RequestMachine.responseLimit)
  }
}

extension APIRequest.Header {
  fileprivate var isIdempotencyKey: Bool { name.lowercased() == "idempotency-key" }
}
