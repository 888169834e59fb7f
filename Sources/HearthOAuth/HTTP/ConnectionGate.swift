import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// Lets request heads with a live ticket through; on others it drops everything and closes the connection.
///
/// For a request that needs pinned keys the gate itself begins TLS on the new connection, and holds all of the request
/// back until the chain is verified and has such a key. (The HTTP client could do no more than verify the chain: it
/// shows the server's own certificate alone.)
final class ConnectionGate: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private enum State {
    /// Nothing was written yet.
    case new
    case beginning(PinnedTLS, ticket: UInt64)
    /// With TLS of the HTTP client's, or without.
    case open
    /// The keys of the chain, from the root to the server's own.
    case pinned([CertificatePin])
    /// Nothing goes through any more, and the one who waits is about to be told why.
    case shutting
    case shut
  }

  private let watch: RequestWatch
  private var state = State.new
  private var held: [(part: HTTPClientRequestPart, promise: EventLoopPromise<Void>?)] = []
  private let chain = CertificateChain()

  init(watch: RequestWatch) {
    self.watch = watch
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    switch state {
    case .shut: promise?.fail(ChannelError.ioOnClosedChannel)
    case .beginning, .shutting: held.append((part, promise))
    case .new, .open, .pinned:
      guard case .head(let head) = part else {
        context.write(data, promise: promise)
        return
      }
      held = [(part, promise)]
      begin(head, context: context)
    }
  }

  func flush(context: ChannelHandlerContext) {
    if held.isEmpty { context.flush() }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    guard let ticket = RequestWatch.ticket(of: head), let need = watch.need(of: ticket) else {
      return shut(context: context)
    }
    switch (need, state) {
    case (.any, .new), (.any, .open):
      state = .open
      release(ticket, context: context)
    case (.pinned(let tls), .new):
      state = .beginning(tls, ticket: ticket)
      beginTLS(tls, context: context)
    case (.pinned(let tls), .pinned(let keys)):
      check(tls, keys, ticket, context: context)
    case (.any, _), (.pinned, _):
      shut(context: context)
    }
  }

  private func beginTLS(_ tls: PinnedTLS, context: ChannelHandlerContext) {
    // It reads the system's certificates, which takes longer than a loop should wait.
    NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) {
      try NIOSSLContext(configuration: tls.configuration)
    }.assumeIsolated().flatMapThrowing { [chain] tlsContext in
      let handler = try chain.watching(tlsContext, serverName: tls.serverName)
      try context.pipeline.syncOperations.addHandler(handler, position: .first)
    }.whenFailure { error in
      self.shut(because: error, context: context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, case .beginning(let tls, let ticket) = state {
      do {
        let keys = try chain.certificates.map { try CertificatePin(of: $0) }
        check(tls, keys, ticket, context: context)
      } catch {
        shut(because: error, context: context)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func check(_ tls: PinnedTLS, _ keys: [CertificatePin], _ ticket: UInt64, context: ChannelHandlerContext) {
    do {
      try tls.check(keys)
      state = .pinned(keys)
      release(ticket, context: context)
    } catch {
      shut(because: error, context: context)
    }
  }

  private func release(_ ticket: UInt64, context: ChannelHandlerContext) {
    guard watch.pass(ticket) else { return shut(context: context) }
    let parts = held
    held = []
    for (part, promise) in parts {
      var part = part
      if case .head(var head) = part {
        head.headers.remove(name: RequestWatch.ticketHeader)
        part = .head(head)
      }
      context.write(wrapOutboundOut(part), promise: promise)
    }
    if case .pinned = state { context.flush() }
  }

  /// `because`: what the one who waits is told; nil where nobody does.
  private func shut(because error: (any Error)? = nil, context: ChannelHandlerContext) {
    state = .shutting
    if error == nil { drop() }
    // Not within the write: the client's own handler is still in the middle of it.
    let channel = context.channel
    context.eventLoop.assumeIsolated().execute {
      if let error {
        channel.pipeline.fireErrorCaught(error)
        self.drop()
      }
      channel.close(promise: nil)
    }
  }

  /// Only after the client's own handler has heard of the error: a write that fails ends the request too, and less is
  /// said of it.
  private func drop() {
    state = .shut
    let parts = held
    held = []
    for (_, promise) in parts { promise?.fail(ChannelError.ioOnClosedChannel) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard case .beginning = state else { return context.fireErrorCaught(error) }
    state = .shutting
    context.fireErrorCaught(error)
    drop()
  }

  func channelInactive(context: ChannelHandlerContext) {
    guard case .beginning = state else { return context.fireChannelInactive() }
    state = .shutting
    context.fireChannelInactive()
    drop()
  }
}

/// The certificates of a chain, as BoringSSL verifies them.
private final class CertificateChain {
  /// From the root to the server's own.
  private(set) var certificates: [NIOSSLCertificate] = []

  func watching(_ context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
    func make<Handler: ChainShowing>(_ type: Handler.Type) throws -> Handler {
      try Handler(context: context, serverHostname: serverName) { result, certificate in
        if case .certificateVerified = result { self.certificates.append(certificate) }
        // What BoringSSL found stands.
        return result
      }
    }
    return try make(NIOSSLClientHandler.self)
  }
}

/// The one initializer whose callback sees the chain that BoringSSL verified; it is deprecated in favour of one that
/// leaves all of the verification to the caller.
private protocol ChainShowing {
  init(context: NIOSSLContext, serverHostname: String?, verificationCallback: NIOSSLVerificationCallback?) throws
}

extension NIOSSLClientHandler: ChainShowing {}
