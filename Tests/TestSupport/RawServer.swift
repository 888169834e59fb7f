import Glibc

/// A server on 127.0.0.1 that sends exactly what a test wants. It blocks, so use it on its own thread.
package final class RawServer: @unchecked Sendable {
  package let port: Int
  private let listener: Int32

  package init() throws {
    let socket = try LoopbackSocket(backlog: 16)
    (listener, port) = (socket.descriptor, socket.port)
    // Makes a test fail instead of waiting forever.
    var timeout = timeval.generous
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(listener) }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// Waits for the next connection.
  package func accept() throws -> RawConnection {
    let descriptor = uninterrupted { Glibc.accept(listener, nil, nil) }
    guard descriptor >= 0 else { throw CallFailure("accept") }
    return RawConnection(descriptor)
  }
}

/// A connection to the server.
package final class RawConnection: @unchecked Sendable {
  private var descriptor: Int32
  /// What was received after the last head.
  private var rest: [UInt8] = []

  fileprivate init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var timeout = timeval.generous
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  package func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Makes the kernel buffer only a little unread data.
  package func takesLittle() {
    var size: Int32 = 8192
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Closes the connection with a TCP reset.
  package func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// The next request line and header fields, without the empty line.
  package func readHead() throws -> String {
    let end = Array("\r\n\r\n".utf8)
    while true {
      let text = rest[...]
      if let place = text.firstRange(of: end) {
        rest = Array(text[place.upperBound...])
        return String(decoding: text[..<place.lowerBound], as: UTF8.self)
      }
      let piece = try read(upTo: 65_536)
      guard !piece.isEmpty else { throw CallFailure("read a request") }
      rest += piece
    }
  }

  /// Reads `count` bytes, or fewer if the other end closes.
  package func read(_ count: Int) throws -> [UInt8] {
    var bytes = Array(rest.prefix(count))
    rest.removeFirst(bytes.count)
    while bytes.count < count {
      let piece = try read(upTo: min(count - bytes.count, 65_536))
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  private func read(upTo most: Int) throws -> [UInt8] {
    let descriptor = descriptor
    var failure = false
    let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      let result = uninterrupted { recv(descriptor, buffer.baseAddress, most, 0) }
      (failure, count) = (result < 0, max(result, 0))
    }
    if failure { throw CallFailure("recv") }
    return bytes
  }

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    guard sendSome(bytes, flags: 0) == bytes.count else { throw CallFailure("send") }
  }

  /// Sends what fits without blocking. Returns the number of bytes sent.
  package func sendNow(_ bytes: [UInt8]) -> Int { sendSome(bytes, flags: Int32(MSG_DONTWAIT)) }

  private func sendSome(_ bytes: [UInt8], flags: Int32) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        uninterrupted {
          Glibc.send(
            descriptor, buffer.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL) | flags)
        }
      }
      if count <= 0 { break }
      sent += count
    }
    return sent
  }
}
