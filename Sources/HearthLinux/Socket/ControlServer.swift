import Glibc
package import HearthControl
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// Serves the control protocol on Unix sockets. Splits the input into calls, enforces limits, checks the clients'
/// identity, and passes the calls to a handler.
package final class ControlServer: Sendable {
  private struct State {
    var limits: ControlLimits
    var isShuttingDown = false
    var listeners: [(socket: ListeningSocket, channel: any Channel)] = []
    var connections: [ConnectionID: ControlConnection] = [:]
    /// The number of connections that still have a client. `connections` can contain more, because calls can outlive
    /// their client.
    var openConnections = 0
    var lastNumber: UInt64 = 0
  }

  /// The sockets to serve from the start.
  package let sockets: [ListeningSocket]
  private let handler: any ControlHandler
  private let group: any EventLoopGroup
  /// The only user allowed to connect.
  private let user: uid_t
  private let foreignPeers: ThrottledWarning
  private let unreadAnswers: ThrottledWarning
  private let budget: OutputBudget
  private let state: Mutex<State>
  private let arrivals: AsyncStream<ControlConnection>
  private let arrivalsFeed: AsyncStream<ControlConnection>.Continuation

  package init(
    sockets: [ListeningSocket], handler: any ControlHandler, limits: ControlLimits = ControlLimits(),
    user: UInt32 = getuid(), group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger,
    elapsed: @escaping @Sendable () -> Duration = ControlServer.uptime
  ) {
    self.sockets = sockets
    self.handler = handler
    state = Mutex(State(limits: limits))
    self.group = group
    budget = OutputBudget(limit: limits.totalBacklog, drained: Heap.giveBack)
    self.user = user
    foreignPeers = ThrottledWarning(logger, elapsed: elapsed) { count, last in
      "Rejected \(count) more \(count == 1 ? "connection" : "connections") from other users. The last one was from "
        + "\(last)."
    }
    unreadAnswers = ThrottledWarning(logger, elapsed: elapsed) { count, last in
      "\(count) more \(count == 1 ? "connection was" : "connections were") closed, because their clients left too many "
        + "responses unread. The last client was \(last)."
    }
    (arrivals, arrivalsFeed) = AsyncStream.makeStream()
  }

  package static let uptime: @Sendable () -> Duration = { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }

  /// Serves until `shutDown()` and `end()` have been called and the running calls have finished, or until their grace
  /// period is over. Cancelling the task aborts the running calls. Closes the descriptors and removes the socket files
  /// that Hearth created. Can be called only once.
  package func run() async throws {
    defer { for socket in sockets + state.withLock({ $0.listeners.map(\.socket) }) { socket.removeFile() } }
    for socket in sockets { try await listen(on: socket) }
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { calls in
        for await connection in arrivals {
          calls.addTask { [self] in
            await connection.run()
            await handler.connectionClosed(connection.id)
            state.withLock { _ = $0.connections.removeValue(forKey: connection.id) }
            Heap.giveBack()
          }
        }
      }
    } onCancel: {
      shutDown()
    }
    // After a cancellation, some connections may never have run, so they must be closed here.
    for connection in state.withLock({ Array($0.connections.values) }) { connection.breakOff() }
    for listener in state.withLock({ $0.listeners.map(\.channel) }) { try? await listener.closeFuture.get() }
  }

  /// Starts serving another socket.
  package func listen(on socket: ListeningSocket) async throws {
    let listener = try await ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPause()) }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { [self] channel in admit(channel) }
      .withBoundSocket(socket.descriptor).get()
    let isLate = state.withLock { state in
      state.listeners.append((socket, listener))
      return state.isShuttingDown
    }
    if isLate { listener.close(promise: nil) }
  }

  /// Stops accepting connections on the socket. Existing connections stay open.
  package func stopListening(on socket: ListeningSocket) {
    let listener = state.withLock { $0.listeners.first { $0.socket.descriptor == socket.descriptor } }
    listener?.channel.close(promise: nil)
  }

  /// Changes the limits of all connections, including existing ones.
  package func change(_ limits: ControlLimits) {
    let connections = state.withLock { state in
      state.limits = limits
      budget.change(limit: limits.totalBacklog)
      return Array(state.connections.values)
    }
    for connection in connections { connection.change(limits) }
  }

  /// Stops accepting connections, and sends error -32000 for calls that have not started. Existing connections stay
  /// open until `end` is called or the grace period is over.
  package func shutDown() {
    let (listeners, connections) = state.withLock { state in
      state.isShuttingDown = true
      return (state.listeners.map(\.channel), Array(state.connections.values))
    }
    for listener in listeners { listener.close(promise: nil) }
    for connection in connections { connection.shutDown() }
    arrivalsFeed.finish()
  }

  /// Closes each connection once its running calls are answered, after which `run` returns. Must be called after
  /// `shutDown`.
  package func end() {
    for connection in state.withLock({ Array($0.connections.values) }) { connection.end() }
  }

  /// Checks who has connected, then serves or rejects the connection. Fails, which closes the connection without a
  /// response, if another user owns the process at the other end.
  private func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
      level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_PEERCRED))
    return credentials.flatMapThrowing { [self] credentials in
      guard credentials.user == user else {
        foreignPeers.record(
          "Rejected a connection from \(credentials), because only user \(user) can connect.",
          detail: "\(credentials)", on: channel.eventLoop)
        throw ChannelError.ioOnClosedChannel
      }
      switch register(channel, credentials) {
      case .success(let connection):
        try channel.pipeline.syncOperations.addHandler(connection)
        handler.connectionOpened(connection.id)
        if case .terminated = arrivalsFeed.yield(connection) { connection.breakOff() }
      case .failure(let error):
        handler.refused(nil, error)
        try channel.pipeline.syncOperations.addHandler(RejectionHandler(error))
      }
    }
  }

  /// Closes the connection with the most unread output, because all connections together have exceeded their limit.
  private func close(_ id: ConnectionID, holding bytes: Int, on loop: any EventLoop) {
    guard let connection = state.withLock({ $0.connections[id] }) else { return }
    connection.leave()
    let client = "\(connection.peer)"
    unreadAnswers.record(
      "All connections together had more than \(state.withLock { $0.limits.totalBacklog } >> 20) MiB of unread "
        + "responses, so Hearth closed the connection with the most unread responses (\(bytes >> 10) KiB), from \(client).",
      detail: client, on: loop)
  }

  private func register(_ channel: any Channel, _ peer: PeerCredentials) -> Result<ControlConnection, RPCError> {
    state.withLock { state in
      if state.isShuttingDown { return .failure(.shuttingDown) }
      let limits = state.limits
      guard state.openConnections < limits.connections else {
        return .failure(
          .overloaded(
            "The daemon has reached its limit of \(limits.connections) connections. Try again later."))
      }
      state.openConnections += 1
      channel.closeFuture.whenComplete { [self] _ in self.state.withLock { $0.openConnections -= 1 } }
      state.lastNumber += 1
      let connection = ControlConnection(
        id: ConnectionID(state.lastNumber), channel: channel, peer: peer, handler: handler, limits: limits,
        budget: budget, exceeded: { [self] in close($0, holding: $1, on: channel.eventLoop) })
      state.connections[connection.id] = connection
      return .success(connection)
    }
  }
}

/// Sends an error to a client that cannot be served, then closes the connection.
private final class RejectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let line: ByteBuffer

  init(_ error: RPCError) {
    line = ByteBuffer(bytes: Response(id: .null, outcome: .failure(error)).line)
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    channel.writeAndFlush(line).whenComplete { _ in channel.close(promise: nil) }
  }
}
