import AsyncHTTPClient
import Glibc
package import HearthCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Sends one request and returns its response, or says whether the server can have seen the request.
///
/// The sender follows no redirect, repeats nothing, decompresses nothing and speaks HTTP/1.1. `shutdown()` must be called
/// before the sender is released.
package final class HTTPSender: Sendable {
  /// How requests share connections.
  package enum Connections: Sendable {
    /// Each request makes its own, so that it is not lost on a stale one, and asks for an answer that is not compressed: for
    /// providers.
    case fresh
    /// Kept open for the next request: for APIs.
    case kept
  }

  struct Request: Sendable {
    var method = "GET"
    var url: HTTPURL
    var headers: [APIRequest.Header] = []
    var body: [UInt8] = []
    /// How much of the response's body is read, in bytes.
    var limit = 1 << 20
    /// The status says enough: no more of the body is read, in bytes and in time, for reading on only keeps the connection
    /// for the next request; a response whose body breaks off is returned as far as it was read; and the time limit of the
    /// request begins anew as often as its own body moves. Nil: the whole response is needed, in time.
    var bodyLimit: (bytes: Int, time: Duration)?
    var plan = ConnectionPlan()

    /// Whom it is sent to, and how, for messages.
    fileprivate var place: String { "\(url.origin)" + (plan.proxy.map { " through the proxy \($0)" } ?? "") }
  }

  let clock: any Clock
  /// One client for each proxy; nil is the key of the one that connects directly.
  private let clients: Mutex<[Proxy?: HTTPClient]>
  private let configuration: HTTPClient.Configuration
  private let connections: Connections
  private let userAgent: String
  private let watch = RequestWatch()
  private let contexts: TLSContexts

  /// `userAgent`: product and version, like `hearth/1.0`. `authorities`: trusted by accounts that name none of their own.
  /// `idleTime`: how long a connection is kept open without a request.
  package init(
    connections: Connections, userAgent: String, clock: any Clock,
    authorities: SystemAuthorities = SystemAuthorities([:]), connectTimeout: Duration = .seconds(10),
    idleTime: Duration = .seconds(30)
  ) {
    contexts = TLSContexts(authorities)
    self.connections = connections
    self.userAgent = userAgent
    self.clock = clock
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
    configuration.httpVersion = .http1Only
    // No tracer is ever set, and asking for one costs each request.
    configuration.tracing.tracer = nil
    configuration.timeout.connect = .milliseconds(connectTimeout.wholeMilliseconds)
    // The callers decide when to try again and how much runs at once, and a hanging response of one account must not
    // keep another account from its connection.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
    configuration.connectionPool.idleTimeout =
      connections == .kept ? .milliseconds(idleTime.wholeMilliseconds) : .seconds(1)
    if connections == .fresh { configuration.maximumUsesPerConnection = 1 }
    configuration.http1_1ConnectionDebugInitializer = { [watch] channel in
      watch.attach(to: channel).flatMap { StatusGuard.attach(to: channel) }.flatMap {
        channel.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentInKernel)
          .recover { _ in }
      }
    }
    self.configuration = configuration
    clients = Mutex([nil: HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)])
  }

  /// Closes every connection; requests in flight fail.
  package func shutdown() async {
    let clients = clients.withLock { clients in
      defer { clients = [:] }
      return clients
    }
    for client in clients.values { try? await client.shutdown() }
  }

  private func client(through proxy: Proxy?) throws -> HTTPClient {
    try clients.withLock { clients in
      if let client = clients[proxy] { return client }
      guard !clients.isEmpty else { throw HTTPClientError.alreadyShutdown }
      var configuration = configuration
      configuration.proxy = proxy?.setting
      let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      clients[proxy] = client
      return client
    }
  }

  /// `timeout` is for the whole exchange, from the look-up of the name to the last byte of the response; where `bodyLimit`
  /// is set, for each step of the request's body and, after its last byte, for the response.
  func send(_ request: Request, timeout: Duration) async throws(ExchangeFailure) -> HTTPResponse {
    let ticket = issueTicket(for: request)
    let reader = ResponseReader(request, clock: clock)
    reader.limit(to: timeout)
    let result = await response(to: request, ticket: ticket, by: reader)
    let wasSent = watch.redeem(ticket)
    let reason: String
    switch result {
    case .success(let response): return response
    case .failure(is ResponseReader.Late): reason = "no answer within \(timeout)"
    case .failure(let error): reason = Self.describe(error).withoutStop
    }
    throw Self.failure(at: request.place, wasSent: wasSent, reason)
  }

  private func issueTicket(for request: Request, keepsChannel: Bool = false) -> UInt64 {
    let origin = request.url.origin
    let tls = origin.scheme == "https" ? ServerTLS(request.plan, to: origin, contexts: contexts) : nil
    return watch.issueTicket(tls: tls, keepsChannel: keepsChannel)
  }

  private static func failure(at place: String, wasSent: Bool, _ reason: String) -> ExchangeFailure {
    let message = "\(place): \(reason)"
    return wasSent ? .unanswered(message: message) : .notSent(message: message)
  }

  /// Begins a request whose bodies go in pieces. `upload`: nil for the request's own body.
  func begin(_ request: Request, upload: APIRequest.Upload?) -> HTTPExchange {
    let ticket = issueTicket(for: request, keepsChannel: true)
    let exchange = HTTPExchange(clock: clock) { [watch, place = request.place] error, hasAnswer in
      let wasSent = watch.redeem(ticket)
      let reason =
        switch error {
        case let error as HTTPExchange.Cancelled: error.reason
        // In what way a server breaks off tells nobody anything.
        case _ where hasAnswer: "the answer broke off"
        default: Self.describe(error).withoutStop
        }
      return Self.failure(at: place, wasSent: wasSent, reason)
    } ended: { [watch] isComplete in
      let channel = watch.release(ticket)
      // The client would wait for the rest of the request for ever.
      if !isComplete { channel?.close(promise: nil) }
    }
    do {
      exchange.run(try start(request, ticket: ticket, exchange, upload: exchange.body(upload)))
    } catch {
      exchange.end(.failure(error))
    }
    return exchange
  }

  private func response(
    to request: Request, ticket: UInt64, by reader: ResponseReader
  ) async -> Result<HTTPResponse, any Error> {
    do {
      let task = try start(request, ticket: ticket, reader)
      task.futureResult.whenFailure { reader.end($0) }
      let result = await reader.result()
      // Whatever else the server sends is not read: the connection is closed.
      if (try? result.get())?.isTruncated != false { task.cancel() }
      return result
    } catch {
      reader.end(error)
      return .failure(error)
    }
  }

  /// `upload`: the body, in place of the request's own.
  private func start<Reader: HTTPClientResponseDelegate>(
    _ request: Request, ticket: UInt64, _ reader: Reader, upload: HTTPClient.Body? = nil
  ) throws -> HTTPClient.Task<Void> where Reader.Response == Void {
    var headers = HTTPHeaders([("Host", request.url.origin.authority)])
    for header in request.headers { headers.add(name: header.name, value: header.value) }
    if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: userAgent) }
    if connections == .fresh {
      headers.replaceOrAdd(name: "Connection", value: "close")
      // Nobody but Hearth reads these answers: as they are (RFC 9110, section 12.5.3).
      headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
    }
    headers.replaceOrAdd(name: RequestWatch.ticketHeader, value: String(ticket))
    let isSecure = request.url.origin.scheme == "https"
    // The gate begins TLS on this connection. By the configuration the client tells kept connections apart.
    let url = "http://\(request.url.origin.host):\(request.url.origin.port)\(request.url.target)"
    let message = try HTTPClient.Request(
      url: isSecure ? url : request.url.description, method: HTTPMethod(rawValue: request.method), headers: headers,
      body: upload ?? (request.body.isEmpty ? nil : Self.body(ByteBuffer(bytes: request.body))),
      tlsConfiguration: isSecure ? request.plan.tls : nil)
    return try client(through: request.plan.proxy).execute(request: message, delegate: reader)
  }

  /// In pieces, so that it shows whether it moves.
  private static func body(_ bytes: ByteBuffer) -> HTTPClient.Body {
    guard bytes.readableBytes > pieceSize else { return .byteBuffer(bytes) }
    return .stream(contentLength: Int64(bytes.readableBytes)) { write(bytes, to: $0) }
  }

  private static func write(_ bytes: ByteBuffer, to writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
    var rest = bytes
    let piece = rest.readSlice(length: min(rest.readableBytes, pieceSize)) ?? ByteBuffer()
    let written = writer.write(.byteBuffer(piece))
    return rest.readableBytes == 0 ? written : written.flatMap { [rest] in write(rest, to: writer) }
  }

  /// In bytes.
  private static let pieceSize = 16 << 10
  /// How many bytes the kernel takes before the network can have them: what it has taken would seem to have left.
  private static let unsentInKernel: SocketOptionValue = 64 << 10

  /// What went wrong, in words that contain nothing of the request.
  private static func describe(_ error: any Error) -> String {
    switch error {
    case let error as HTTPClientError where error == .proxyAuthenticationRequired:
      "the proxy asks for a user name and a password"
    case let error as HTTPClientError where error == .invalidProxyResponse:
      "the proxy does not connect"
    case let error as HTTPClientError where error == .remoteConnectionClosed:
      "the server closed the connection before it answered"
    case let error as HTTPClientError where error == .connectTimeout:
      "no connection was made in time"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      "TLS failed: its certificate is for another server"
    case let error as ServerTLS.Mismatch: error.description
    case let error as WeakCertificate: "TLS failed: \(error)"
    case let error as SystemAuthorities.Failure: error.description
    case let error as HTTPClientError:
      // Its description is not used, since it quotes header values.
      error.shortDescription.lowercased()
    case let error as NIOConnectionError:
      if let failure = error.connectionErrors.first {
        describe(failure.error)
      } else {
        "the name \(error.host) cannot be resolved"
      }
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case is HTTPParserError: "what it answers is not HTTP"
    case is CancellationError: "cancelled"
    default: describe(other: String(describing: error))
    }
  }

  /// The errors of BoringSSL are long, and one word of them tells the reason: `CERTIFICATE_VERIFY_FAILED`.
  private static func describe(other text: String) -> String {
    guard let reason = text.firstRange(of: "OPENSSL_internal:") else {
      return text.hasPrefix("handshakeFailed") ? "TLS failed: it ends the handshake" : String(text.prefix(200))
    }
    return "TLS failed: " + text[reason.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
  }
}

extension Origin {
  /// Host and port as the `Host` header has them (RFC 9110, section 7.2).
  fileprivate var authority: String {
    String(description.dropFirst(scheme.count + 3))
  }
}
