import HearthControl
import TestSupport

/// A connection to the daemon's socket that carries lines as they stand: what is sent is the test's own text, and what
/// comes back is given as text.
final class RawLink {
  private let client: RawClient

  init(_ path: String) throws {
    client = try RawClient(path: path)
  }

  func send(_ line: String) { client.send(line) }

  /// Ends early where the other end has closed.
  func send(_ bytes: [UInt8]) { client.send(bytes) }

  /// The next line, without its end; nil where the other end has closed.
  func receive() throws -> String? {
    try client.receiveLine().map { String(decoding: $0, as: UTF8.self) }
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
    try call(method, path, body.isEmpty ? nil : JSON(parsing: body)).description
  }

  /// The refresh token of a first grant.
  func refreshToken(_ further: String = "") throws -> String {
    try RawLink.text("refresh_token", in: tell("POST", "/__grant", #"{"subject":"2482"\#(further)}"#))
  }

  func accessToken() throws -> String {
    try RawLink.text("access_token", in: tell("POST", "/__grant", #"{"subject":"2482"}"#))
  }
}
