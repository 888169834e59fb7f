import Glibc
package import HearthControl

/// A client that sends exactly what a test wants. It blocks, so use it on its own thread.
package final class RawClient: @unchecked Sendable {
  package struct Failure: Error {
    let what: String
  }

  private var descriptor: Int32
  private var framer = LineFramer(limit: 1 << 26)

  package convenience init(path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    try self.init(AF_UNIX, address)
  }

  /// Connects to `port` on 127.0.0.1.
  package convenience init(port: Int) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    try self.init(AF_INET, address)
  }

  private init<Address>(_ family: Int32, _ address: Address) throws {
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // Makes a test fail instead of waiting forever.
    var timeout = timeval.generous
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard result == 0 else { throw Failure(what: "connect: \(String(cString: strerror(errno)))") }
  }

  deinit { close() }

  package func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Closes the sending side.
  package func endInput() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Sends the text unchanged, without a line end. Returns false if the other end is closed.
  @discardableResult
  package func send(raw text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        uninterrupted { Glibc.send(descriptor, buffer.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  package func send(_ line: String) {
    send(raw: line + "\n")
  }

  package func call(_ id: Int, _ method: String, _ params: JSONObject = [:]) {
    send(raw: String(decoding: Request(id: JSON(id), method: method, params: params).line, as: UTF8.self))
  }

  /// The next line as JSON, or nil at the end of the stream.
  package func receive() throws -> JSON? { try receiveLine().map { try JSON(parsing: $0) } }

  /// The next line without its end, or nil at the end of the stream.
  package func receiveLine() throws -> [UInt8]? {
    while true {
      if let line = try framer.next() { return line }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = uninterrupted { recv(descriptor, &chunk, chunk.count, 0) }
      if count == 0 || count < 0 && errno == ECONNRESET { return nil }
      guard count > 0 else { throw Failure(what: "recv: \(String(cString: strerror(errno)))") }
      framer.push(chunk[..<count])
    }
  }

  /// Reads lines until the other end closes the connection.
  package func receiveAll() throws -> [JSON] {
    var lines: [JSON] = []
    while let line = try receive() { lines.append(line) }
    return lines
  }

  /// Reads everything until the other end closes the connection.
  package func receiveToEnd() throws -> String {
    var bytes: [UInt8] = []
    while true {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = uninterrupted { recv(descriptor, &chunk, chunk.count, 0) }
      if count == 0 || count < 0 && errno == ECONNRESET { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else { throw Failure(what: "recv: \(String(cString: strerror(errno)))") }
      bytes += chunk[..<count]
    }
  }
}
