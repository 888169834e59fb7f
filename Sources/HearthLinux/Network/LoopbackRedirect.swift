import HearthCore
import NIOCore
import Synchronization

/// The sockets of one sign-in's loopback address, and the requests that arrive there.
final class LoopbackRedirect: OpenRedirect {
  private struct State {
    var port = 0
    var listeners: [any Channel] = []
    /// The connections in the order in which they came.
    var connections: [any Channel] = []
    /// The connections that have sent their request.
    var asking: Set<ObjectIdentifier> = []
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

  /// Returns whether another connection may be served. If there are too many, the one that has been silent longest is
  /// closed, because the browser's own may be the newest.
  func admit(_ channel: any Channel) -> Bool {
    let (isAdmitted, oldest): (Bool, (any Channel)?) = state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      var oldest: (any Channel)?
      if state.connections.count >= LoopbackListener.mostConnections {
        guard let index = state.connections.firstIndex(where: { !state.asking.contains(ObjectIdentifier($0)) }) else {
          return (false, nil)
        }
        oldest = state.connections.remove(at: index)
      }
      state.connections.append(channel)
      return (true, oldest)
    }
    oldest?.close(promise: nil)
    channel.closeFuture.whenComplete { [self] _ in
      state.withLock { state in
        state.connections.removeAll { $0 === channel }
        state.asking.remove(ObjectIdentifier(channel))
      }
    }
    return isAdmitted
  }

  func receive(_ request: ReceivedRedirect, on channel: any Channel) {
    state.withLock { _ = $0.asking.insert(ObjectIdentifier(channel)) }
    feed.yield(request)
  }

  func close() async {
    feed.finish()
    let (listeners, connections) = state.withLock { state in
      state.isClosed = true
      return (state.listeners, state.connections)
    }
    for listener in listeners { try? await listener.close() }
    // Closed in order, so that what was written before is sent first.
    for connection in connections { connection.close(mode: .all, promise: nil) }
  }
}
