import HearthCore
import NIOCore
import Synchronization

/// The sockets of one sign-in's loopback address, and the requests that come to them.
final class LoopbackRedirect: OpenRedirect {
  private struct State {
    var port = 0
    var listeners: [any Channel] = []
    var connections: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  let requests: AsyncStream<ReceivedRedirect>
  private let feed: AsyncStream<ReceivedRedirect>.Continuation
  private let state = Mutex(State())

  init() {
    (requests, feed) = AsyncStream.makeStream()
  }

  var port: Int {
    get { state.withLock(\.port) }
    set { state.withLock { $0.port = newValue } }
  }

  func add(_ listener: any Channel) { state.withLock { $0.listeners.append(listener) } }

  /// Whether another connection may be served.
  func admit(_ channel: any Channel) -> Bool {
    let isAdmitted = state.withLock { state in
      guard !state.isClosed, state.connections.count < LoopbackListener.mostConnections else { return false }
      state.connections[ObjectIdentifier(channel)] = channel
      return true
    }
    channel.closeFuture.whenComplete { [self] _ in
      state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
    }
    return isAdmitted
  }

  func receive(_ request: ReceivedRedirect) { feed.yield(request) }

  func close() async {
    feed.finish()
    let (listeners, connections) = state.withLock { state in
      state.isClosed = true
      return (state.listeners, Array(state.connections.values))
    }
    for listener in listeners { try? await listener.close() }
    // In their turn: what was written before is sent first.
    for connection in connections { connection.close(mode: .all, promise: nil) }
  }
}
