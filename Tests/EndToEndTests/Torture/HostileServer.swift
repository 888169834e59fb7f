import Glibc
import Synchronization
import TestSupport

/// A provider and API on loopback that answers in every way that costs a client time or memory. The last part of
/// a request's path names the trick.
final class HostileServer: Sendable {
  enum Trick: String, CaseIterable {
    /// 100 Continue without end.
    case informational
    /// Chunks of one byte with long extensions, without end (RFC 9112, section 7.1.1).
    case extensions
    /// A byte now and then.
    case drip
    /// Content without end.
    case huge
    /// Header fields without end.
    case fields
    /// Fields that mislead: a date in the past, a wait of centuries, control characters.
    case misleading
    case redirect
    case throttle
    case page
    case nonsense
    case silence
    case hangUp
  }

  let port: Int
  private let listener: Int32
  private let isStopped = Atomic(false)
  private let served = Atomic(0)
  private let open = Atomic(0)

  init() throws {
    let socket = try LoopbackSocket(backlog: 128)
    (listener, port) = (socket.descriptor, socket.port)
  }

  deinit { close(listener) }

  var url: String { "http://127.0.0.1:\(port)" }
  /// How many requests it has been sent.
  var count: Int { served.load(ordering: .relaxed) }

  /// Ends `run`, and every answer that goes on.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// Serves until it is stopped.
  func run() async {
    await withDiscardingTaskGroup { connections in
      while !isStopped.load(ordering: .relaxed) {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 100) > 0 else { continue }
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { continue }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        connections.addTask { self.serve(connection) }
      }
    }
  }

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    var timeout = timeval(tv_sec: 0, tv_usec: 200_000)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(connection, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
    var request: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while !isStopped.load(ordering: .relaxed), !request.contains(UInt8(ascii: "\n")) {
      let count = recv(connection, &chunk, chunk.count, 0)
      if count > 0 { request += chunk[..<count] } else if count == 0 || errno != EAGAIN && errno != EINTR { return }
    }
    let target = String(decoding: request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self).split(separator: " ")
    let name = target.count > 1 ? target[1].split(separator: "/").last.map(String.init) ?? "" : ""
    served.add(1, ordering: .relaxed)
    answer(Trick(rawValue: name) ?? .nonsense, on: connection)
  }

  private func answer(_ trick: Trick, on connection: Int32) {
    func send(_ text: String) -> Bool { self.send(Array(text.utf8), on: connection) }
    func endlessly(_ text: String, pause: UInt32 = 0) {
      let bytes = Array(text.utf8)
      while self.send(bytes, on: connection) { if pause > 0 { usleep(pause) } }
    }
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    let filling = String(repeating: "x", count: 4000)
    switch trick {
    case .informational: endlessly(String(repeating: "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n", count: 500))
    case .extensions:
      if send(ok + "Transfer-Encoding: chunked\r\n\r\n") {
        endlessly(String(repeating: "1;a=\(filling)\r\n{\r\n", count: 10))
      }
    case .drip: if send(ok + "Content-Length: 100000\r\n\r\n") { endlessly("{", pause: 20_000) }
    case .huge: if send(ok + "Content-Length: 1099511627776\r\n\r\n") { endlessly(filling) }
    case .fields: if send(ok) { endlessly("X-Field: \(filling)\r\n") }
    case .misleading:
      _ = send(
        "HTTP/1.1 503 \u{1B}[31m\u{202E}\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nRetry-After: 99999999999999999999\r\n"
          + "Content-Type: \u{9B}2J\r\nContent-Length: 5\r\nConnection: close\r\n\r\n\u{1B}]0;x")
    case .redirect: _ = send("HTTP/1.1 307 Go\r\nLocation: \(url)/token/redirect\r\nContent-Length: 0\r\n\r\n")
    case .throttle: _ = send("HTTP/1.1 429 Wait\r\nRetry-After: 999999999999\r\nContent-Length: 0\r\n\r\n")
    case .page:
      let page = "<html>\(String(repeating: filling, count: 200))</html>"
      _ = send("HTTP/1.1 403 No\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n\r\n" + page)
    case .nonsense: _ = send("\u{0}\u{1}\u{2}nonsense\r\n\r\n\(filling)")
    case .silence: while !isStopped.load(ordering: .relaxed), isOpen(connection) { usleep(100_000) }
    case .hangUp: break
    }
  }

  /// False once the client has gone, or this stops.
  private func send(_ bytes: [UInt8], on connection: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      if isStopped.load(ordering: .relaxed) { return false }
      let count = bytes.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count > 0 { sent += count } else if errno != EAGAIN && errno != EINTR { return false }
    }
    return true
  }

  private func isOpen(_ connection: Int32) -> Bool {
    var byte: UInt8 = 0
    return recv(connection, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) != 0
  }
}
