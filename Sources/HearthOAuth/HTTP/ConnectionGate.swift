import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// Sends only requests whose ticket is valid. For others it closes the connection and sends nothing.
///
/// For a request to an `https` URL the gate itself begins TLS on the new connection, and delays the request until the chain
/// is verified, strong enough, and has a pinned key. (The HTTP client verifies the chain, but shows only the server's own
/// certificate.)
final class ConnectionGate: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private enum State {
    /// Nothing has been written yet.
    case new
    case beginning(ServerTLS, ticket: UInt64)
    /// Without TLS.
    case open
    /// With TLS. The keys of the chain, from the root to the server's own.
    case secured([CertificatePin])
    /// Nothing is sent any more, and the client's handler is about to receive the reason.
    case closing
    case closed
  }

  private let watch: RequestWatch
  private var state = State.new
  private var delayed: [(part: HTTPClientRequestPart, promise: EventLoopPromise<Void>?)] = []
  private let chain = CertificateChain()
  /// What was written goes out at the end of the event loop's turn.
  private var isFlushing = false

  init(watch: RequestWatch) {
    self.watch = watch
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    switch state {
    case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
    case .beginning, .closing: delayed.append((part, promise))
    case .new, .open, .secured:
      guard case .head(let head) = part else {
        context.write(data, promise: promise)
        return
      }
      delayed = [(part, promise)]
      begin(head, context: context)
    }
  }

  /// The client flushes head and body each, and writes both in one go: they leave in one packet.
  func flush(context: ChannelHandlerContext) {
    guard delayed.isEmpty, !isFlushing else { return }
    isFlushing = true
    context.eventLoop.assumeIsolated().execute {
      self.isFlushing = false
      context.flush()
    }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    guard let ticket = RequestWatch.ticket(of: head), let need = watch.need(of: ticket) else {
      return close(context: context)
    }
    switch (need, state) {
    case (.any, .new), (.any, .open):
      state = .open
      release(ticket, context: context)
    case (.tls(let tls), .new):
      state = .beginning(tls, ticket: ticket)
      beginTLS(tls, context: context)
    case (.tls(let tls), .secured(let keys)):
      check(tls, keys, ticket, context: context)
    case (.any, _), (.tls, _):
      close(context: context)
    }
  }

  private func beginTLS(_ tls: ServerTLS, context: ChannelHandlerContext) {
    // The context reads the system's certificates, which takes too long for an event loop.
    NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) {
      try tls.contexts.context(for: tls.configuration)
    }.assumeIsolated().flatMapThrowing { [chain] tlsContext in
      let handler = try chain.watching(tlsContext, serverName: tls.serverName)
      try context.pipeline.syncOperations.addHandler(handler, position: .first)
    }.whenFailure { error in
      self.close(because: error, context: context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, case .beginning(let tls, let ticket) = state {
      do {
        try WeakCertificate.check(chain.certificates)
        let keys = try chain.certificates.map { try CertificatePin(of: $0) }
        check(tls, keys, ticket, context: context)
        flush(context: context)
      } catch {
        close(because: error, context: context)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func check(_ tls: ServerTLS, _ keys: [CertificatePin], _ ticket: UInt64, context: ChannelHandlerContext) {
    do {
      try tls.check(keys)
      state = .secured(keys)
      release(ticket, context: context)
    } catch {
      close(because: error, context: context)
    }
  }

  private func release(_ ticket: UInt64, context: ChannelHandlerContext) {
    guard watch.markSent(ticket, on: context.channel) else { return close(context: context) }
    let parts = delayed
    delayed = []
    for (part, promise) in parts {
      var part = part
      if case .head(var head) = part {
        head.headers.remove(name: RequestWatch.ticketHeader)
        part = .head(head)
      }
      context.write(wrapOutboundOut(part), promise: promise)
    }
  }

  /// `because`: the error for the client's handler; nil where nobody waits for the request.
  private func close(because error: (any Error)? = nil, context: ChannelHandlerContext) {
    state = .closing
    if error == nil { drop() }
    // This must not happen within the write, since the client's own handler is still in the middle of it.
    let channel = context.channel
    context.eventLoop.assumeIsolated().execute {
      if let error {
        channel.pipeline.fireErrorCaught(error)
        self.drop()
      }
      channel.close(promise: nil)
    }
  }

  /// Must come after the client's own handler has received the error: a write that fails ends the request too, with less
  /// of a reason.
  private func drop() {
    state = .closed
    let parts = delayed
    delayed = []
    for (_, promise) in parts { promise?.fail(ChannelError.ioOnClosedChannel) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard case .beginning = state else { return context.fireErrorCaught(error) }
    state = .closing
    context.fireErrorCaught(error)
    drop()
  }

  func channelInactive(context: ChannelHandlerContext) {
    guard case .beginning = state else { return context.fireChannelInactive() }
    state = .closing
    context.fireChannelInactive()
    drop()
  }
}

/// The certificates of a chain, as BoringSSL verifies them.
private final class CertificateChain {
  /// From the root to the server's own.
  private(set) var certificates: [NIOSSLCertificate] = []

  func watching(_ context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
    func make<Handler: ChainObserving>(_ type: Handler.Type) throws -> Handler {
      try Handler(context: context, serverHostname: serverName) { result, certificate in
        if case .certificateVerified = result { self.certificates.append(certificate) }
        // The verdict of BoringSSL is kept.
        return result
      }
    }
    return try make(NIOSSLClientHandler.self)
  }
}

/// The one initializer whose callback receives the chain that BoringSSL verified. It is deprecated in favour of one that
/// leaves the whole verification to the caller.
private protocol ChainObserving {
  init(context: NIOSSLContext, serverHostname: String?, verificationCallback: NIOSSLVerificationCallback?) throws
}

extension NIOSSLClientHandler: ChainObserving {}
