import HearthCore
import NIOPosix

/// A server's response and the time at which it arrived.
struct HTTPResponse: Hashable, Sendable {
  var status: Int
  var headers: [APIRequest.Header] = []
  var body: [UInt8] = []
  /// Whether `body` is incomplete, because it exceeded the request's limit or ended too early.
  var isTruncated = false
  /// The error that cut off the response, if any.
  var breakOff: ExchangeFailure?
  var receivedAt: Timestamp

  /// Runs `body` on another thread, because parsing a long response would block the event loop.
  func read<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (HTTPResponse) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { waiting in
      NIOThreadPool.singleton.submit { _ in
        waiting.resume(returning: Result { () throws(Failure) in try body(self) })
      }
    }
    return try result.get()
  }

  /// Returns the first value of a header, or `nil` if the header is missing. Ignores the case of the name.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The time on the server's clock (RFC 9110, section 6.6.1), or `nil` if the response has no date. Also `nil` if a
  /// cache has added an `Age` header (RFC 9111, section 5.1), because the date is then outdated.
  var date: Timestamp? {
    header("Age") != nil ? nil : header("Date").flatMap { Timestamp(httpDate: $0, near: receivedAt) }
  }

  /// The server's clock minus this machine's, or `nil` if the server's time is unknown.
  var skew: Duration? {
    date.map { $0 - receivedAt }
  }

  /// Describes a body that is neither JSON nor a web page, for messages.
  var kindWithoutJSON: String {
    coding.map { "content in the encoding \($0), which Hearth cannot decode" } ?? "content that is not a JSON object"
  }

  /// Describes a body that is not a provider's document, for messages.
  var kindWithoutDocument: String {
    isTruncated ? "a response of more than 1 MiB" : isPage ? TokenRejection.page : kindWithoutJSON
  }

  /// Whether the body seems to be an HTML page, which usually comes from a proxy or a captive portal.
  var isPage: Bool {
    if header("Content-Type").map({ $0.lowercased().contains("html") }) == true { return true }
    return body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
  }
}

extension APIResponse {
  init(_ response: HTTPResponse) {
    self.init(
      status: response.status, headers: response.headers, body: response.body, isTruncated: response.isTruncated,
      retryAfter: response.retryAfter, skew: response.skew)
  }
}
