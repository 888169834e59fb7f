import Glibc
package import HearthControl
package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// Serves the control protocol on a Unix socket: framing, limits, batches and who may speak. What the calls mean is
/// the handler's.
package final class ControlServer: Sendable {
  private struct State {
    var limits: ControlLimits
    var isShuttingDown = false
    var listener: (any Channel)?
    var connections: [ConnectionID: ControlConnection] = [:]
    /// Of these, those whose client is still there: the calls of one that has left may take a while longer.
    var openConnections = 0
    var lastNumber: UInt64 = 0
    var strangers = LineBound()
    var lastStranger = PeerCredentials(process: 0, user: 0, group: 0)
  }

  private let socket: ListeningSocket
  private let handler: any ControlHandler
  /// The only user id that is served.
  private let user: uid_t
  private let group: any EventLoopGroup
  private let logger: Logger
  /// The time since any moment that stays the same.
  private let elapsed: @Sendable () -> Duration
  private let state: Mutex<State>
  private let arrivals: AsyncStream<ControlConnection>
  private let arrivalsFeed: AsyncStream<ControlConnection>.Continuation

  package init(
    socket: ListeningSocket, handler: any ControlHandler, limits: ControlLimits = ControlLimits(),
    user: UInt32 = getuid(), group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger,
    elapsed: @escaping @Sendable () -> Duration = ControlServer.uptime
  ) {
    self.socket = socket
    self.handler = handler
    state = Mutex(State(limits: limits))
    self.user = user
    self.group = group
    self.logger = logger
    self.elapsed = elapsed
    (arrivals, arrivalsFeed) = AsyncStream.makeStream()
  }

  package static let uptime: @Sendable () -> Duration = { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }

  /// Serves until `shutDown()` and `end()`, then until running calls have ended or their grace is over. Cancelled:
  /// breaks the running calls off too. Closes the descriptor and removes the socket's file, if Hearth made it. Runs once.
  package func run() async throws {
    defer { socket.removeFile() }
    let listener = try await ServerBootstrap(group: group)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { [self] channel in admit(channel) }
      .withBoundSocket(socket.descriptor).get()
    let isLate = state.withLock { state in
      state.listener = listener
      return state.isShuttingDown
    }
    if isLate { listener.close(promise: nil) }
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { calls in
        for await connection in arrivals {
          calls.addTask { [self] in
            await connection.run(handler)
            await handler.connectionClosed(connection.id)
            state.withLock { _ = $0.connections.removeValue(forKey: connection.id) }
          }
        }
      }
    } onCancel: {
      shutDown()
    }
    // Cancelled, there may be some that nobody took up any more.
    for connection in state.withLock({ Array($0.connections.values) }) { connection.breakOff() }
    try? await listener.closeFuture.get()
  }

  /// For every connection, those that are open included.
  package func change(_ limits: ControlLimits) {
    let connections = state.withLock { state in
      state.limits = limits
      return Array(state.connections.values)
    }
    for connection in connections { connection.change(limits) }
  }

  /// Takes no more connections and answers -32000 to calls that have not begun; those there are stay open for `end`, or
  /// until the grace is over.
  package func shutDown() {
    let (listener, connections) = state.withLock { state in
      state.isShuttingDown = true
      return (state.listener, Array(state.connections.values))
    }
    listener?.close(promise: nil)
    for connection in connections { connection.shutDown() }
    arrivalsFeed.finish()
  }

  /// After `shutDown`: closes each connection as soon as its running calls are answered, and lets `run` end.
  package func end() {
    for connection in state.withLock({ Array($0.connections.values) }) { connection.end() }
  }

  /// Looks at who has connected, and takes the connection in or closes it.
  private func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(TurnedAway())
    }
    let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
      level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_PEERCRED))
    return credentials.flatMapThrowing { [self] credentials in
      guard credentials.user == user else {
        note(credentials, on: channel.eventLoop)
        throw TurnedAway()
      }
      switch register(channel) {
      case .success(let connection):
        try channel.pipeline.syncOperations.addHandler(connection)
        if case .terminated = arrivalsFeed.yield(connection) { connection.breakOff() }
      case .failure(let error):
        try channel.pipeline.syncOperations.addHandler(Refusal(error))
      }
    }
  }

  /// Says who was turned away; one that comes again and again is told of once a minute.
  private func note(_ stranger: PeerCredentials, on loop: any EventLoop) {
    let verdict = state.withLock { state in
      state.lastStranger = stranger
      return state.strangers.happened(at: elapsed())
    }
    switch verdict {
    case .write: logger.warning("A process of \(stranger) was turned away.")
    case .count: break
    case .countUntil(let end):
      loop.scheduleTask(in: TimeAmount(end - elapsed())) { [self] in
        let (count, last) = state.withLock { ($0.strangers.due(at: elapsed()), $0.lastStranger) }
        let times = count == 1 ? "once more" : "\(count) times more"
        logger.warning("Processes of other users were turned away \(times); the last was of \(last).")
      }
    }
  }

  private func register(_ channel: any Channel) -> Result<ControlConnection, RPCError> {
    state.withLock { state in
      if state.isShuttingDown { return .failure(.shuttingDown) }
      let limits = state.limits
      guard state.openConnections < limits.connections else {
        return .failure(.overloaded("The daemon serves \(limits.connections) connections and takes no more now."))
      }
      state.openConnections += 1
      channel.closeFuture.whenComplete { [self] _ in self.state.withLock { $0.openConnections -= 1 } }
      state.lastNumber += 1
      let connection = ControlConnection(id: ConnectionID(state.lastNumber), channel: channel, limits: limits)
      state.connections[connection.id] = connection
      return .success(connection)
    }
  }
}

/// The connection of another user, which is closed without a word.
private struct TurnedAway: Error {}

/// Tells a client that there is no room for it, and closes.
private final class Refusal: ChannelInboundHandler {
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

/// `struct ucred` of unix(7), what SO_PEERCRED brings.
private struct PeerCredentials: Sendable, CustomStringConvertible {
  let process: pid_t
  let user: uid_t
  let group: gid_t

  var description: String { "user \(user) (pid \(process))" }
}
