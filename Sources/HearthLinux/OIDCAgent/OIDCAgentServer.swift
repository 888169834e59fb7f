import Glibc
package import HearthControl
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// Serves the protocol of oidc-agent on a Unix socket of its own: one request for each connection, plain or sealed. What
/// the requests mean is up to the handler.
package final class OIDCAgentServer: Sendable {
  package struct Limits: Hashable, Sendable {
    package var connections = 64
    /// How long a client may take until its request is there.
    package var requestTime: Duration = .seconds(10)

    package init() {}
  }

  private struct State {
    var isShutDown = false
    var listener: (any Channel)?
    var connections: [ObjectIdentifier: OIDCAgentConnection] = [:]
  }

  private struct Call: Sendable {
    let connection: OIDCAgentConnection
    let request: OIDCAgentRequest
  }

  private let socket: ListeningSocket
  private let handler: any OIDCAgentHandler
  private let limits: Limits
  private let group: any EventLoopGroup
  private let peers: PeerCheck
  private let state = Mutex(State())
  private let calls: AsyncStream<Call>
  private let called: AsyncStream<Call>.Continuation

  package init(
    socket: ListeningSocket, handler: any OIDCAgentHandler, limits: Limits = Limits(), user: UInt32 = getuid(),
    group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger,
    elapsed: @escaping @Sendable () -> Duration = ControlServer.uptime
  ) {
    self.socket = socket
    self.handler = handler
    self.limits = limits
    self.group = group
    peers = PeerCheck(user: user, logger: logger, elapsed: elapsed)
    (calls, called) = AsyncStream.makeStream()
  }

  /// Serves until `shutDown()`, and then until the requests that have come are answered. A cancellation breaks them off.
  /// Closes the descriptor, and removes the socket's file. To be called once.
  package func run() async throws {
    defer { socket.removeFile() }
    let listener = try await ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPause()) }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { [self] channel in
        peers.peer(of: channel).flatMapThrowing { [self] _ in try admit(channel) }
      }
      .withBoundSocket(socket.descriptor).get()
    let isLate = state.withLock { state in
      state.listener = listener
      return state.isShutDown
    }
    if isLate { listener.close(promise: nil) }
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { answers in
        for await call in calls {
          answers.addTask { [handler] in call.connection.finish(with: await handler.answer(call.request)) }
        }
      }
    } onCancel: {
      close()
    }
    try? await listener.closeFuture.get()
  }

  /// Accepts no more connections, closes those whose request has not come, and removes the socket's file.
  package func shutDown() async {
    try? await close()?.closeFuture.get()
    socket.removeFile()
  }

  @discardableResult
  private func close() -> (any Channel)? {
    let (listener, connections) = state.withLock { state in
      state.isShutDown = true
      return (state.listener, Array(state.connections.values))
    }
    listener?.close(promise: nil)
    for connection in connections { connection.shutDown() }
    called.finish()
    return listener
  }

  private func admit(_ channel: any Channel) throws {
    let connection = state.withLock { state in
      let isFull = state.connections.count >= limits.connections
      let connection = OIDCAgentConnection(
        channel, within: limits.requestTime,
        refusal: state.isShutDown
          ? Self.ending : isFull ? .failure("There are too many connections; try again") : nil
      ) { [called] connection, request in
        if case .terminated = called.yield(Call(connection: connection, request: request)) {
          connection.finish(with: Self.ending)
        }
      }
      state.connections[ObjectIdentifier(connection)] = connection
      return connection
    }
    let id = ObjectIdentifier(connection)
    channel.closeFuture.whenComplete { [self] _ in state.withLock { state in state.connections[id] = nil } }
    try channel.pipeline.syncOperations.addHandler(connection)
  }

  private static let ending = OIDCAgentAnswer.failure("The agent is shutting down")
}
