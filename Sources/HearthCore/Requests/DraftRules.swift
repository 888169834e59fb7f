/// The rules for programs' requests, whether Hearth sends them immediately or queues them.
package enum DraftRules {
  private static let maxHeaders = 100
  private static let maxHeaderBytes = 64 * 1024
  /// The maximum length of a lane name or key, in bytes.
  private static let maxNameBytes = 255

  /// Checks a request's parts, and returns the parsed URL. `maxBody` is in bytes.
  static func checked(
    _ url: String, method: String, headers: [APIRequest.Header], body: [UInt8], idempotencyKey: String?, maxBody: Int
  ) throws -> HTTPURL {
    guard isToken(method) else { throw Failure.invalidParams("method must be an HTTP method") }
    // A CONNECT request has no URL of this form, and the response to a TRACE would repeat the token (RFC 9110, section
    // 9.3.8).
    guard method != "CONNECT", method != "TRACE" else {
      throw Failure.invalidParams("method must not be \(method)")
    }
    guard headers.count <= maxHeaders, headers.reduce(0, { $0 + $1.byteCount }) <= maxHeaderBytes else {
      throw Failure.invalidParams("headers must not exceed \(maxHeaders) headers or \(maxHeaderBytes) bytes")
    }
    for header in headers {
      guard isToken(header.name) else { throw Failure.invalidParams("headers contains an invalid name") }
      guard !header.isOwn else {
        throw Failure.invalidParams("headers must not contain \(header.name), because Hearth sets it")
      }
      guard header.hasFieldValue else {
        throw Failure.invalidParams("headers contains a control character in the value of \(header.name)")
      }
    }
    guard body.count <= maxBody else { throw Failure.invalidParams("body must not be longer than \(maxBody) bytes") }
    if let idempotencyKey {
      guard isName(idempotencyKey), idempotencyKey.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw Failure.invalidParams("idempotencyKey must be 1 to 255 printable ASCII characters, without spaces")
      }
    }
    do {
      return try HTTPURL(encoding: url)
    } catch {
      throw Failure.invalidParams("url cannot be used: \(error)")
    }
  }

  /// Returns whether the string is a valid method or header name (RFC 9110, section 5.6.2) of at most 64 bytes.
  package static func isToken(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isTokenByte)
  }

  static func isName(_ text: String) -> Bool {
    (1...maxNameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
