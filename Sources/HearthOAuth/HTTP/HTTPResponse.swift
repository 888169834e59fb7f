import HearthCore
import NIOPosix

/// The response of a server, and when it came by this machine's clock.
struct HTTPResponse: Hashable, Sendable {
  var status: Int
  var headers: [APIRequest.Header] = []
  var body: [UInt8] = []
  /// The body was longer than the request's limit, or ended too early, and `body` is its beginning.
  var isTruncated = false
  /// Why the connection ended before the response did, if it did. `body` is what was read until then.
  var breakOff: ExchangeFailure?
  var receivedAt: Timestamp

  /// Reads it on another thread than the one that serves everybody: it may be as long as its limit allows.
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

  /// The first header of that name, in any case.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The server's clock (RFC 9110, section 6.6.1), unless the answer is a cache's, which is as old as its `Age` says, or older
  /// (RFC 9111, section 5.1).
  var date: Timestamp? {
    header("Age") != nil ? nil : header("Date").flatMap { Timestamp(httpDate: $0, near: receivedAt) }
  }

  /// The server's clock less this machine's.
  var skew: Duration? {
    date.map { $0 - receivedAt }
  }

  /// What the body is, given that it is no JSON and no page.
  var kindWithoutJSON: String { coding.map { "an answer packed with \($0) that cannot be read" } ?? "no JSON" }

  /// What the body is, given that it is no document of a provider's.
  var kindWithoutDocument: String {
    isTruncated ? "more than 1 MiB" : isPage ? TokenRejection.page : kindWithoutJSON
  }

  /// An HTML page: it comes from a proxy or a portal, and never from a token endpoint itself.
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
