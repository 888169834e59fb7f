import Glibc
import HearthCore
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import NIOSOCKS
import NIOSSL
import NIOTLS
import Synchronization

/// Opens connections and reuses idle ones for requests with the same plan.
final class ConnectionPool: Sendable {
  private struct State {
    /// Idle connections. The most recently used one is last.
    var free: [ConnectionPlan: [HTTPConnection.Reference]] = [:]
    var open: [ObjectIdentifier: any Channel] = [:]
    var isShutDown = false
  }

  /// Maximum number of unsent bytes in the kernel. Hearth counts bytes as sent once the kernel has accepted them, so
  /// without this limit a stalled connection would seem to make progress.
  private static let unsentInKernel: SocketOptionValue = 64 << 10

  private let contexts: TLSContexts
  /// Timeout for connecting to the server or proxy. Setting up a tunnel through the proxy has a separate timeout of the
  /// same length.
  private let timeout: TimeAmount
  /// How long an idle connection stays open, or `nil` to use each connection only once.
  private let idleTime: TimeAmount?
  private let state = Mutex(State())

  init(_ contexts: TLSContexts, timeout: TimeAmount, idleTime: TimeAmount?) {
    (self.contexts, self.timeout, self.idleTime) = (contexts, timeout, idleTime)
  }

  /// Closes all connections. Requests in progress fail.
  func shutdown() async {
    let open = state.withLock { state in
      state.isShutDown = true
      return Array(state.open.values)
    }
    for channel in open {
      channel.close(promise: nil)
      try? await channel.closeFuture.get()
    }
  }

  /// Sends the request on an idle connection or a new one.
  func send(_ exchange: HTTPExchange, over plan: ConnectionPlan) {
    guard let connection = state.withLock({ $0.free[plan]?.popLast() }) else {
      return connect(for: exchange, over: plan)
    }
    connection.onLoop {
      // If the server has closed this connection in the meantime, try the next one.
      if !$0.start(exchange) { self.send(exchange, over: plan) }
    }
  }

  // MARK: - Free connections

  /// Makes the connection available to other requests, or closes it if connections are not reused. Must be called on
  /// the connection's event loop.
  private func keep(_ connection: HTTPConnection, _ plan: ConnectionPlan) {
    guard let reference = connection.reference else { return }
    let isKept = state.withLock { state in
      guard idleTime != nil, !state.isShutDown else { return false }
      state.free[plan, default: []].append(reference)
      return true
    }
    guard isKept, let idleTime else { return reference.channel.close(promise: nil) }
    connection.close(unlessUsedWithin: idleTime)
  }

  private func forget(_ channel: any Channel, _ plan: ConnectionPlan) {
    state.withLock { state in
      state.open[ObjectIdentifier(channel)] = nil
      state.free[plan]?.removeAll { $0.channel === channel }
      if state.free[plan]?.isEmpty == true { state.free[plan] = nil }
    }
  }

  // MARK: - New connections

  private func connect(for exchange: HTTPExchange, over plan: ConnectionPlan) {
    let place = plan.place
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.any())
      .connectTimeout(timeout)
      .channelInitializer { channel in
        channel.setOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentInKernel).recover { _ in }
      }
      .connect(host: place.host, port: place.port)
      // Captures the exchange weakly, so that an abandoned request is released even while its connection is being
      // opened.
      .whenComplete { [weak exchange] result in
        switch result {
        case .failure(let error): exchange?.end(error)
        case .success(let channel):
          guard let exchange else { return channel.close(promise: nil) }
          channel.eventLoop.execute { self.prepare(channel, for: exchange, over: plan) }
        }
      }
  }

  private func prepare(_ channel: any Channel, for exchange: HTTPExchange, over plan: ConnectionPlan) {
    let isWanted = state.withLock { state in
      if !state.isShutDown { state.open[ObjectIdentifier(channel)] = channel }
      return !state.isShutDown
    }
    channel.closeFuture.whenComplete { _ in self.forget(channel, plan) }
    guard isWanted, exchange.waits(for: channel) else {
      channel.close(promise: nil)
      return exchange.end(Reason("the daemon is stopping"))
    }
    tunnel(channel, over: plan).flatMap { self.secure(channel, by: plan) }.assumeIsolated()
      .flatMapThrowing { [weak self] in
        let connection = try HTTPConnection.add(to: channel) { self?.keep($0, plan) }
        guard connection.start(exchange) else { throw Reason.closed }
      }.whenFailure { error in
        exchange.end(error)
        channel.close(promise: nil)
      }
  }

  /// Asks the proxy to connect to the server, if the plan has a proxy.
  private func tunnel(_ channel: any Channel, over plan: ConnectionPlan) -> EventLoopFuture<Void> {
    guard let proxy = plan.proxy else { return channel.eventLoop.makeSucceededVoidFuture() }
    let (loop, pipeline) = (channel.eventLoop, channel.pipeline.syncOperations)
    let (host, port) = (plan.origin.host, plan.origin.port)
    let reached = loop.makePromise(of: Void.self)
    do {
      switch proxy.kind {
      case .http(let credentials):
        var headers = HTTPHeaders([("Host", "\(host):\(port)")])
        if let credentials { headers.add(name: "Proxy-Authorization", value: Proxy.basic(credentials)) }
        let (encoder, decoder) = (HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()))
        try pipeline.addHandlers(
          encoder, decoder,
          NIOHTTP1ProxyConnectHandler(
            targetHost: host, targetPort: port, headers: headers, deadline: .now() + timeout, promise: reached))
        return reached.futureResult.assumeIsolated().flatMap {
          pipeline.removeHandler(decoder).and(pipeline.removeHandler(encoder)).map { _ in }
        }.nonisolated()
      case .socks5:
        let address = (try? SocketAddress(ipAddress: plan.origin.address, port: port)).map { SOCKSAddress.address($0) }
        let deadline = loop.scheduleTask(in: timeout) { reached.fail(Reason.timedOut) }
        try pipeline.addHandlers(
          SOCKSClientHandler(targetAddress: address ?? .domain(host, port: port)),
          Milestone(reached) { $0 is SOCKSProxyEstablishedEvent })
        return reached.futureResult.always { _ in deadline.cancel() }
      }
    } catch {
      reached.fail(error)
      return reached.futureResult
    }
  }

  /// Starts TLS if the plan has TLS settings, then checks the server's chain.
  private func secure(_ channel: any Channel, by plan: ConnectionPlan) -> EventLoopFuture<Void> {
    guard let tls = plan.tls else { return channel.eventLoop.makeSucceededVoidFuture() }
    // Creating a context reads the system's certificates, which would block the event loop for too long.
    return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) { [contexts] in
      try contexts.context(for: tls)
    }.assumeIsolated().flatMap { context in
      let chain = CertificateChain()
      let finished = channel.eventLoop.makePromise(of: Void.self)
      do {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
          chain.watching(context, serverName: plan.serverName),
          Milestone(finished) {
            guard case .handshakeCompleted? = $0 as? TLSUserEvent else { return false }
            return true
          })
      } catch {
        finished.fail(error)
      }
      let bound = NIOLoopBound(chain, eventLoop: channel.eventLoop)
      return finished.futureResult.flatMapErrorThrowing { error in
        guard let refused = bound.value.refused else { throw error }
        throw Reason(untrusted: refused)
      }.flatMapThrowing { try plan.check(bound.value.certificates) }
    }.nonisolated()
  }
}

/// Completes the promise on a matching pipeline event, or fails it on an earlier error.
private final class Milestone: ChannelInboundHandler {
  typealias InboundIn = Never

  private let promise: EventLoopPromise<Void>
  private let isReached: (Any) -> Bool

  init(_ promise: EventLoopPromise<Void>, _ isReached: @escaping (Any) -> Bool) {
    (self.promise, self.isReached) = (promise, isReached)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isReached(event) { promise.succeed() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(Reason.closed)
    context.fireChannelInactive()
  }
}

/// Records the certificates of the server's chain while BoringSSL verifies them.
private final class CertificateChain {
  /// The verified certificates, from the root to the server's own.
  private(set) var certificates: [NIOSSLCertificate] = []
  /// The certificate that failed verification.
  private(set) var refused: NIOSSLCertificate?

  func watching(_ context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
    func make<Handler: ChainObserving>(_ type: Handler.Type) throws -> Handler {
      try Handler(context: context, serverHostname: serverName) { result, certificate in
        switch result {
        case .certificateVerified: self.certificates.append(certificate)
        case .failed: self.refused = certificate
        }
        // The callback only observes, so it returns BoringSSL's verdict unchanged.
        return result
      }
    }
    return try make(NIOSSLClientHandler.self)
  }
}

/// Exposes the only initializer whose callback receives the chain that BoringSSL verified. The initializer is
/// deprecated in favor of one that leaves the entire verification to the caller. Calling it through a protocol avoids
/// the deprecation warning.
private protocol ChainObserving {
  init(context: NIOSSLContext, serverHostname: String?, verificationCallback: NIOSSLVerificationCallback?) throws
}

extension NIOSSLClientHandler: ChainObserving {}
