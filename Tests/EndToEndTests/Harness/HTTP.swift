import Glibc
import HearthControl
import TestSupport

/// One HTTP/1.1 request to loopback, with JSON in and out; the connection is closed after it.
enum HTTP {
  struct Answer {
    let status: Int
    let body: JSON
  }

  static func send(_ method: String, port: Int, _ path: String, _ body: JSON? = nil) throws -> Answer {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw CallFailure("socket") }
    defer { close(descriptor) }
    var timeout = timeval.generous
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
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
    let content = body?.bytes ?? []
    let head =
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(content.count)\r\n\r\n"
    let request = Array(head.utf8) + content
    let sent = uninterrupted { Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) }
    guard sent == request.count else {
      throw CallFailure("send to port \(port)")
    }
    return try answer(readAll(descriptor), to: "\(method) \(path)")
  }

  private static func readAll(_ descriptor: Int32) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      var failure = false
      let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
        let result = uninterrupted { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
        failure = result < 0
        count = max(0, result)
      }
      if failure { throw CallFailure("recv") }
      if chunk.isEmpty { return bytes }
      bytes += chunk
    }
  }

  /// The sandbox tells the length of what it answers, so that what follows the head is the body.
  private static func answer(_ bytes: [UInt8], to request: String) throws -> Answer {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.firstRange(of: "\r\n\r\n"),
      let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap({ Int($0) })
    else { throw NeverHappened(description: "\(request) was not answered in HTTP: \(text)") }
    let body = Array(text[end.upperBound...].utf8)
    return Answer(status: status, body: body.isEmpty ? .null : try JSON(parsing: body))
  }
}
