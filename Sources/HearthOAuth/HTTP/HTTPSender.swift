import Glibc
package import HearthCore
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSOCKS
import NIOSSL

/// Sends HTTP requests. Each error says whether the server may have received the request.
///
/// The sender never retries and speaks only HTTP/1.1. It follows redirects only for documents that providers publish,
/// and decompresses only responses from providers. Call `shutdown()` before releasing the sender.
package final class HTTPSender: Sendable {
  /// Whether requests share connections.
  package enum Connections: Sendable {
    /// Opens a connection for each request and asks for an uncompressed response. Used for providers, because a request
    /// must not get lost on a stale connection.
    case fresh
    /// Keeps connections open for later requests. Used for APIs.
    case kept
  }

  struct Request: Sendable {
    var method = "GET"
    var url: HTTPURL
    var headers: [APIRequest.Header] = []
    var body: [UInt8] = []
    var reading = HTTPExchange.Reading.document(limit: 1 << 20)
    /// How to connect, or `nil` to connect directly.
    var plan: ConnectionPlan?

    /// The server and the proxy, for messages.
    fileprivate var place: String { "\(url.origin)" + (plan?.proxy.map { " through the proxy \($0)" } ?? "") }
  }

  let clock: any Clock
  private let pool: ConnectionPool
  private let connections: Connections
  private let userAgent: String

  /// `userAgent` consists of a product and a version, such as `hearth/1.0`. `authorities` apply to accounts that do not
  /// configure any. With `.kept`, an idle connection stays open for `idleTime`.
  package init(
    connections: Connections, userAgent: String, clock: any Clock,
    authorities: SystemAuthorities = SystemAuthorities([:]), connectTimeout: Duration = .seconds(10),
    idleTime: Duration = .seconds(30)
  ) {
    self.connections = connections
    self.userAgent = userAgent
    self.clock = clock
    // The pool does not limit the number of connections, because one account's hanging response must not block another
    // account. Callers limit how many requests run at the same time.
    pool = ConnectionPool(
      TLSContexts(authorities), timeout: .milliseconds(connectTimeout.wholeMilliseconds),
      idleTime: connections == .kept ? .milliseconds(idleTime.wholeMilliseconds) : nil)
  }

  /// Closes all connections. Requests in progress fail.
  package func shutdown() async { await pool.shutdown() }

  /// Sends a request and returns the response. `timeout` covers the whole exchange, from the name lookup to the last
  /// byte of the response. With `Reading.beginning`, the timeout restarts whenever the request's body makes progress. A
  /// provider's response is decompressed. If it is a complete JSON value, it is returned even if the connection broke
  /// or the announced length was wrong.
  func send(_ request: Request, timeout: Duration) async throws(ExchangeFailure) -> HTTPResponse {
    let exchange = exchange(for: request, upload: nil)
    exchange.limit(to: timeout)
    start(exchange, request)
    let response = try await exchange.answer()
    guard case .document(let limit) = request.reading, response.needsWork else { return response }
    return try await response.read { (response) throws(ExchangeFailure) in try response.document(limit: limit) }
  }

  /// Starts a request whose response is read in pieces. `upload` is `nil` if `request` contains the body.
  func begin(_ request: Request, upload: APIRequest.Upload?) -> HTTPExchange {
    let exchange = exchange(for: request, upload: upload)
    start(exchange, request)
    return exchange
  }

  private func start(_ exchange: HTTPExchange, _ request: Request) {
    guard request.headers.allSatisfy(\.hasFieldValue) else {
      // Such as the header with the token.
      return exchange.end(Reason("a header contains a control character and cannot be sent"))
    }
    pool.send(exchange, over: request.plan ?? ConnectionPlan(to: request.url.origin))
  }

  private func exchange(for request: Request, upload: APIRequest.Upload?) -> HTTPExchange {
    let body = upload == nil ? ByteBuffer(bytes: request.body) : nil
    return HTTPExchange(
      HTTPExchange.Message(head: head(of: request, upload), body: body), reading: request.reading, clock: clock
    ) { [place = request.place] error, isBegun, wasSent in
      let reason =
        switch error {
        case let error as HTTPExchange.Cancelled: error.reason
        // Once the response has begun, the reason why the connection broke does not matter to the caller.
        case _ where isBegun: "the connection closed before the response was complete"
        default: Self.describe(error).withoutStop
        }
      let message = "\(place): \(reason)"
      return wasSent ? .unanswered(message: message) : .notSent(message: message)
    }
  }

  private func head(of request: Request, _ upload: APIRequest.Upload?) -> HTTPRequestHead {
    var headers = HTTPHeaders([("Host", request.url.origin.authority)])
    for header in request.headers { headers.add(name: header.name, value: header.value) }
    if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: userAgent) }
    if connections == .fresh {
      headers.replaceOrAdd(name: "Connection", value: "close")
      // These responses are short, so they do not need compression (RFC 9110, section 12.5.3).
      headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
    }
    headers.remove(name: "Transfer-Encoding")
    headers.remove(name: "Content-Length")
    switch upload {
    case .chunked: headers.add(name: "Transfer-Encoding", value: "chunked")
    case .sized(let count): headers.add(name: "Content-Length", value: "\(count)")
    // Servers may expect a body with other methods, so the length is sent even if it is 0 (RFC 9110, section 8.6).
    case nil where !request.body.isEmpty || !["GET", "HEAD", "DELETE", "TRACE"].contains(request.method):
      headers.add(name: "Content-Length", value: "\(request.body.count)")
    case nil: break
    }
    return HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.url.target, headers: headers)
  }

  /// Describes an error without revealing any content of the request.
  private static func describe(_ error: any Error) -> String {
    switch error {
    case let error as NIOHTTP1ProxyConnectHandler.Error where error == .proxyAuthenticationRequired():
      "the proxy requires a user name and a password"
    case let error as NIOHTTP1ProxyConnectHandler.Error where error != .httpProxyHandshakeTimeout():
      "the proxy refused the connection"
    case let error as Reason: error.description
    case NIOSSLError.uncleanShutdown: Reason.closed.description
    case ChannelError.connectTimeout, is NIOHTTP1ProxyConnectHandler.Error: Reason.timedOut.description
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      "TLS failed: the server's certificate does not match its host name"
    case let error as NIOConnectionError:
      if let failure = error.connectionErrors.first {
        describe(failure.error)
      } else {
        "cannot resolve the host name \(error.host)"
      }
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case is HTTPParserError: "the response is not HTTP"
    case is SOCKSError.ConnectionFailed, is SOCKSError.NoValidAuthenticationMethod, is SOCKSError.UnexpectedRead:
      "the proxy refused the connection"
    default: describe(other: String(describing: error), isTLS: error is NIOSSLError || error is BoringSSLError)
    }
  }

  /// Describes other errors. BoringSSL's descriptions are long but contain the reason as one word, such as
  /// `CERTIFICATE_VERIFY_FAILED`. Other errors have names that mean something only to programmers, so the names are not
  /// shown.
  private static func describe(other text: String, isTLS: Bool) -> String {
    guard let reason = text.firstRange(of: "OPENSSL_internal:") else {
      if text.hasPrefix("handshakeFailed") { return "TLS failed: the server aborted the handshake" }
      return isTLS ? "TLS failed" : "the connection failed"
    }
    let word = text[reason.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return word == "WRONG_VERSION_NUMBER"
      ? "TLS failed: the server does not use TLS on this port (\(word))" : "TLS failed: \(word)"
  }
}

extension Reason {
  /// The server or a proxy closed the connection early.
  static let closed = Reason("the connection was closed before the response was complete")
  static let timedOut = Reason("the connection attempt timed out")
}

extension Origin {
  /// The host and port in the form of the `Host` header (RFC 9110, section 7.2).
  fileprivate var authority: String {
    String(description.dropFirst(scheme.count + 3))
  }
}
