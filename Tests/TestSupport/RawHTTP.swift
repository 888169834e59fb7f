/// An HTTP/1.1 request to loopback on its own connection. It blocks.
package enum RawHTTP {
  package struct Answer: Sendable {
    package let status: Int
    /// The header fields, in the order of the response.
    package let headers: [(name: String, value: String)]
    package let body: String
  }

  package struct Failure: Error {
    let what: String
  }

  package static func send(
    _ method: String, port: Int, _ path: String, headers: [(name: String, value: String)] = [], body: String = ""
  ) throws -> Answer {
    let client = try RawClient(port: port)
    let ask = request(method, path, headers: [("Connection", "close")] + headers, body: body)
    guard client.send(raw: ask) else { throw Failure(what: "\(method) \(path) was not taken") }
    return try answer(client.receiveToEnd(), to: "\(method) \(path)")
  }

  /// The request as it is sent.
  package static func request(
    _ method: String, _ path: String, headers: [(name: String, value: String)] = [], body: String = ""
  ) -> String {
    let lines =
      ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: \(body.utf8.count)"]
      + headers.map { "\($0.name): \($0.value)" }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
  }

  /// The sandbox sends the length of its answers, so the rest after the head is the body.
  private static func answer(_ text: String, to request: String) throws -> Answer {
    guard let end = text.firstRange(of: "\r\n\r\n"), case let lines = text[..<end.lowerBound].split(separator: "\r\n"),
      let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { throw Failure(what: "\(request) was not answered in HTTP: \(text)") }
    let headers = lines.dropFirst().compactMap { line in
      line.firstRange(of: ": ").map { (name: String(line[..<$0.lowerBound]), value: String(line[$0.upperBound...])) }
    }
    return Answer(status: status, headers: headers, body: String(text[end.upperBound...]))
  }
}
