import Glibc
package import HearthControl
import HearthThreads
import Synchronization

/// A server that gives canned answers and records the calls.
package final class FakeDaemon: Sendable {
  package enum Answer: Sendable {
    case result(JSON)
    case error(RPCError)
    /// The result, then notifications; then it closes the connection.
    case stream(JSON, [Notification])
    /// The result, then notifications; the connection stays open.
    case events(JSON, [Notification])
    /// Something that no daemon would send; the connection stays open.
    case bytes([UInt8])
    case silence
    /// Closes without an answer.
    case hangUp
  }

  package let path: String
  private let folder = TemporaryFolder()
  private let descriptor: Int32
  private let requests = Mutex<[Request]>([])

  package var asked: [Request] { requests.withLock { $0 } }

  /// Without a path, the socket is in a folder of its own.
  package init(path: String? = nil, answer: @escaping @Sendable (Request) -> Answer) {
    let path = path ?? folder.file("rpc.sock")
    self.path = path
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    descriptor = listener
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 else { fatalError("bind") }
      }
    }
    chmod(path, 0o600)
    listen(listener, 16)
    WorkerThread(linger: 0).enqueue { [weak self] in
      // Closed only here, because another daemon's socket may get the same descriptor afterwards.
      defer { close(listener) }
      while true {
        let connection = uninterrupted { accept(listener, nil, nil) }
        guard connection >= 0 else { return }
        // A program that another test starts would keep it open.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        guard let self else {
          close(connection)
          return
        }
        WorkerThread(linger: 0).enqueue { [weak self] in
          defer { close(connection) }
          self?.serve(connection, answer)
        }
      }
    }
  }

  deinit {
    // Ends the thread, which waits in accept or is about to.
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private func serve(_ connection: Int32, _ answer: (Request) -> Answer) {
    var framer = LineFramer(limit: 1 << 24)
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      while let line = try? framer.next() {
        guard case .single(.request(let request)) = Incoming(line: line), let id = request.id else { return }
        requests.withLock { $0.append(request) }
        var bytes: [UInt8] = []
        switch answer(request) {
        case .result(let json): bytes = Response(id: id, outcome: .success(json)).line
        case .error(let error): bytes = Response(id: id, outcome: .failure(error)).line
        case .stream(let json, let notifications):
          bytes = Response(id: id, outcome: .success(json)).line + notifications.flatMap(\.line)
          _ = uninterrupted { send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
          return
        case .events(let json, let notifications):
          bytes = Response(id: id, outcome: .success(json)).line + notifications.flatMap(\.line)
        case .bytes(let said): bytes = said
        case .silence: continue
        case .hangUp: return
        }
        _ = uninterrupted { send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
      }
      let count = uninterrupted { recv(connection, &chunk, chunk.count, 0) }
      guard count > 0 else { return }
      framer.push(chunk[..<count])
    }
  }
}
