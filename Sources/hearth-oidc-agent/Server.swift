import Dispatch
import Glibc
import HearthControl
import HearthThreads
import Synchronization

/// Serves one request per connection, with a thread for each connection. Closes a connection after the answer, because
/// clients read until the end.
final class Server: Sendable {
  private struct State {
    var connections = 0
    var isStopping = false
  }

  private let agent: Agent
  private let connections: Int
  private let requestTime: Duration
  private let user: uid_t
  private let state = Mutex(State())
  private let served = DispatchGroup()

  /// Creates a server for programs that run as `user`. `connections` is the maximum number of concurrent connections.
  /// `requestTime` limits both the time to receive a request and each write of the answer.
  init(agent: Agent, connections: Int = 64, requestTime: Duration = .seconds(10), user: uid_t = getuid()) {
    (self.agent, self.connections, self.requestTime, self.user) = (agent, connections, requestTime, user)
  }

  /// Starts accepting connections. If the process has run out of file descriptors, retries after 0.1 seconds.
  func start(on listener: Int32) {
    WorkerThread(linger: 0).enqueue { [self] in
      while true {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, -1)
        let client = accept(listener, nil, nil)
        if client >= 0 { admit(client) } else if errno == EMFILE || errno == ENFILE { poll(nil, 0, 100) }
      }
    }
  }

  /// Refuses new connections from now on. Returns once all connections have been served, or after `limit`.
  func stop(within limit: Duration) {
    state.withLock { $0.isStopping = true }
    _ = served.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
  }

  private func admit(_ client: Int32) {
    let refusal: Failure? = state.withLock { state in
      if state.isStopping { return Failure("The agent is shutting down") }
      state.connections += 1
      return state.connections > connections ? Failure("There are too many connections; try again") : nil
    }
    served.enter()
    WorkerThread(linger: 0).enqueue { [self] in
      let connection = Connection(client, within: requestTime)
      if let refusal { connection.send(Answer.failure(refusal).json.bytes) } else { serve(connection) }
      close(client)
      state.withLock { if !$0.isStopping { $0.connections -= 1 } }
      served.leave()
    }
  }

  private func serve(_ connection: Connection) {
    guard connection.peer == user else { return }
    var exchange = Exchange()
    while let bytes = connection.receive() {
      guard !bytes.isEmpty else {
        // Do not answer a client that has sent nothing, because it only checked whether an agent is running.
        if !exchange.isAtStart { connection.send(exchange.written(.failure(.malformed("The request is incomplete.")))) }
        return
      }
      do {
        switch try exchange.receive(bytes) {
        case .more: break
        case .send(let text): connection.send(Array(text.utf8))
        case .request(let request): return connection.send(exchange.written(agent.answer(request)))
        }
      } catch {
        return connection.send(exchange.written(.failure(Failure(error))))
      }
    }
  }
}

/// A client's connection. Receiving ends at the deadline, and each write fails after `limit`.
private struct Connection {
  private let descriptor: Int32
  private let deadline: ContinuousClock.Instant

  init(_ descriptor: Int32, within limit: Duration) {
    self.descriptor = descriptor
    deadline = .now + limit
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// The client's user, or `nil` if the system does not report it.
  var peer: uid_t? {
    var peer = PeerCredentials(process: 0, user: 0, group: 0)
    var length = socklen_t(MemoryLayout<PeerCredentials>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.user : nil
  }

  /// Returns the client's next bytes. Returns an empty array at the end of the input, and `nil` after a timeout or an
  /// error.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let left = deadline - .now
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = left > .zero ? poll(&waiting, 1, Int32(left / .milliseconds(1)) + 1) : 0
      let count = ready > 0 ? recv(descriptor, &buffer, buffer.count, 0) : Int(ready)
      if count >= 0 && ready > 0 { return Array(buffer[..<count]) }
      if ready == 0 || errno != EINTR { return nil }
    }
  }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
  }
}
