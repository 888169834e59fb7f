/// A request to deliver, as specified by the caller.
package struct OutboxDraft: Hashable, Sendable {
  package var account: AccountName
  package var method: String
  package var url: String
  package var headers: [APIRequest.Header]
  package var body: [UInt8]
  package var lane: Name
  package var isUnordered: Bool
  package var idempotencyKey: String?
  package var replaceKey: Name?
  package var notBefore: Timestamp?
  package var expiresAt: Timestamp?
  package var expect: ExpectedContent?

  package init(
    account: AccountName, method: String, url: String, headers: [APIRequest.Header] = [], body: [UInt8] = [],
    lane: Name = "default", isUnordered: Bool = false, idempotencyKey: String? = nil, replaceKey: Name? = nil,
    notBefore: Timestamp? = nil, expiresAt: Timestamp? = nil, expect: ExpectedContent? = nil
  ) {
    self.account = account
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.lane = lane
    self.isUnordered = isUnordered
    self.idempotencyKey = idempotencyKey
    self.replaceKey = replaceKey
    self.notBefore = notBefore
    self.expiresAt = expiresAt
    self.expect = expect
  }

  /// Checks that the draft is valid, and returns its parsed URL. `maxBody` is in bytes.
  package func checked(maxBody: Int) throws -> HTTPURL {
    let url = try DraftRules.checked(
      url, method: method, headers: headers, body: body, idempotencyKey: idempotencyKey, maxBody: maxBody)
    guard isUnordered || DraftRules.isName(lane.text) else {
      throw Failure.invalidParams("lane must be 1 to 255 bytes long, without control characters")
    }
    if let replaceKey, !DraftRules.isName(replaceKey.text) {
      throw Failure.invalidParams("replaceKey must be 1 to 255 bytes long, without control characters")
    }
    if let notBefore, let expiresAt, expiresAt <= notBefore {
      throw Failure.invalidParams("expiresAt must be later than notBefore")
    }
    return url
  }

  /// Returns the size that counts towards the outbox limits, in bytes.
  package func byteCount(with url: HTTPURL) -> Int {
    body.count + headers.reduce(0) { $0 + $1.byteCount } + url.description.utf8.count
  }
}
