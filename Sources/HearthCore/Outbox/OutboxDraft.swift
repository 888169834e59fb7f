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
}

/// An error that says why a draft or an imported item is invalid.
package struct DraftError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

extension OutboxDraft {
  private static let maxHeaders = 100
  private static let maxHeaderBytes = 64 * 1024
  /// The maximum length of a lane name or key, in bytes.
  private static let maxNameBytes = 255

  /// Checks that the draft can be sent, and returns its parsed URL. `maxBody` is in bytes.
  package func checked(maxBody: Int) throws(DraftError) -> HTTPURL {
    guard Self.isToken(method) else { throw DraftError("method must be an HTTP method") }
    // A CONNECT request has no URL of this form, and the response to a TRACE would repeat the token (RFC 9110, section
    // 9.3.8).
    guard method != "CONNECT", method != "TRACE" else { throw DraftError("method must not be \(method)") }
    try checkHeaders()
    guard body.count <= maxBody else { throw DraftError("body must not be longer than \(maxBody) bytes") }
    guard isUnordered || Self.isName(lane.text) else {
      throw DraftError("lane must be 1 to 255 bytes long, without control characters")
    }
    if let idempotencyKey {
      guard Self.isName(idempotencyKey), idempotencyKey.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw DraftError("idempotencyKey must be 1 to 255 printable ASCII characters, without spaces")
      }
    }
    if let replaceKey, !Self.isName(replaceKey.text) {
      throw DraftError("replaceKey must be 1 to 255 bytes long, without control characters")
    }
    if let notBefore, let expiresAt, expiresAt <= notBefore {
      throw DraftError("expiresAt must be later than notBefore")
    }
    do {
      return try HTTPURL(encoding: url)
    } catch {
      throw DraftError("url cannot be used: \(error)")
    }
  }

  /// Returns the size that counts towards the outbox limits, in bytes.
  package func byteCount(with url: HTTPURL) -> Int {
    body.count + headers.reduce(0) { $0 + $1.byteCount } + url.description.utf8.count
  }

  private func checkHeaders() throws(DraftError) {
    guard headers.count <= Self.maxHeaders,
      headers.reduce(0, { $0 + $1.byteCount }) <= Self.maxHeaderBytes
    else { throw DraftError("headers must not exceed \(Self.maxHeaders) headers or \(Self.maxHeaderBytes) bytes") }
    for header in headers {
      guard Self.isToken(header.name) else { throw DraftError("headers contains an invalid name") }
      guard !header.isOwn else { throw DraftError("headers must not contain \(header.name), because Hearth sets it") }
      guard header.hasFieldValue else {
        throw DraftError("headers contains a control character in the value of \(header.name)")
      }
    }
  }

  /// Returns whether the string is a valid method or header name (RFC 9110, section 5.6.2) of at most 64 bytes.
  package static func isToken(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isTokenByte)
  }

  private static func isName(_ text: String) -> Bool {
    (1...maxNameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}

extension APIRequest.Header {
  /// Whether the value contains no control characters other than tabs (RFC 9110, section 5.5).
  package var hasFieldValue: Bool { value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F } }

  package var byteCount: Int { name.utf8.count + value.utf8.count }
}
