import Glibc

/// A connection to the daemon's socket that carries lines as they stand: what is sent is the test's own text, and what
/// comes back is given as text.
final class RawLink {
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw CallFailure("socket") }
    // A test that would wait for ever fails instead.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw CallFailure("connect to \(path)") }
  }

  deinit { close(descriptor) }

  func send(_ line: String) { send(Array(line.utf8) + [UInt8(ascii: "\n")]) }

  /// Ends early where the other end has closed.
  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// The next line, without its end; nil where the other end has closed.
  func receive() throws -> String? {
    var scanned = 0
    while true {
      if let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeFirst(end + 1) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      scanned = bytes.count
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count == 0 || count < 0 && errno == ECONNRESET { return nil }
      guard count > 0 else { throw CallFailure("recv") }
      bytes += chunk[..<count]
    }
  }

  /// Sends a line and gives the next that comes back.
  func ask(_ line: String) throws -> String {
    send(line)
    guard let answer = try receive() else { throw NeverHappened(description: "There is no answer to \(line)") }
    return answer
  }

  func ask(_ method: String, _ params: String) throws -> String { try ask(Self.line(method, params)) }

  static func line(_ method: String, _ params: String?) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)""# + (params.map { #","params":\#($0)"# } ?? "") + "}"
  }

  /// The first string that stands under this name in a line.
  static func text(_ name: String, in line: String) throws -> String {
    guard let start = line.firstRange(of: "\"\(name)\":\"")?.upperBound, let end = line[start...].firstIndex(of: "\"")
    else { throw NeverHappened(description: "There is no \"\(name)\" in \(line)") }
    return String(line[start..<end])
  }
}

extension Sandbox {
  /// A request to the sandbox with JSON as text, in and out; it must be answered 200.
  @discardableResult
  func tell(_ method: String, _ path: String, _ body: String = "") throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw CallFailure("socket") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw CallFailure("connect to port \(port)") }
    let request = Array(
      ("\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw CallFailure("send to port \(port)")
    }
    var answer: [UInt8] = []
    while true {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count >= 0 else { throw CallFailure("recv") }
      if count == 0 { break }
      answer += chunk[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    guard text.hasPrefix("HTTP/1.1 200"), let end = text.firstRange(of: "\r\n\r\n") else {
      throw NeverHappened(description: "\(method) \(path) was answered: \(text)")
    }
    return String(text[end.upperBound...])
  }

  /// The refresh token of a first grant.
  func refreshToken(_ further: String = "") throws -> String {
    try RawLink.text("refresh_token", in: tell("POST", "/__grant", #"{"subject":"2482"\#(further)}"#))
  }

  func accessToken() throws -> String {
    try RawLink.text("access_token", in: tell("POST", "/__grant", #"{"subject":"2482"}"#))
  }
}
