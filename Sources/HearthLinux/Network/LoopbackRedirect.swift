import HearthCore
import NIOCore
import Synchronization

/// The sockets that listen for one sign-in's redirect, and the requests that they receive.
final class LoopbackRedirect: OpenRedirect {
  private struct State {
    var port = 0
    var listeners: [any Channel] = []
    /// The open connections, oldest first.
    var connections: [any Channel] = []
    /// The connections that have sent a request.
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

  /// Returns whether to serve another connection. At the limit, closes the oldest connection that has not sent a
  /// request, because the newest connection may be the browser's.
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
    // The close is queued behind earlier writes, so pending responses are sent first.
    for connection in connections { connection.close(mode: .all, promise: nil) }
  }
}
