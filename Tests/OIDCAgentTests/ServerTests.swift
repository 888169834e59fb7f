import Glibc
import HearthControl
import HearthLinux
import TestSupport
import Testing

@testable import hearth_oidc_agent

@Suite("The socket for oidc-agent's clients", .timeLimit(.minutes(1)))
struct ServerTests {
  private static let checked = #"{"status":"success"}"#

  /// With an agent that finds no daemon, which answers `check` alone.
  private func serving(
    connections: Int = 64, requestTime: Duration = .seconds(10), user: UInt32 = getuid(),
    _ body: @Sendable @escaping (String) throws -> Void
  ) async throws {
    let folder = TemporaryFolder()
    let path = folder.file("oidc-agent.sock")
    let listener = try ListeningSocket(path: path)
    let server = Server(
      agent: Agent(socket: "/none"), connections: connections, requestTime: requestTime, user: user)
    server.start(on: listener.descriptor)
    try await onThread { try body(path) }
    listener.removeFile()
    server.stop(within: .seconds(5))
  }

  @Test("A plain request is answered, in pieces or not, and then the connection is closed")
  func plain() async throws {
    try await serving { path in
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      let client = try RawClient(path: path)
      client.send(raw: #" {"request":"check","application_hint":"}\"#)
      client.send(raw: #""{"}"# + "\n")
      #expect(try client.receiveToEnd() == Self.checked)
      let halfClosed = try RawClient(path: path)
      halfClosed.send(raw: #"{"request":"check"}"#)
      halfClosed.endInput()
      #expect(try halfClosed.receiveToEnd() == Self.checked)
    }
  }

  @Test("What is no request is answered by a sentence")
  func garbage() async throws {
    try await serving { path in
      func answer(_ text: String, ends: Bool = false) throws -> String? {
        let client = try RawClient(path: path)
        client.send(raw: text)
        if ends { client.endInput() }
        return try JSON(parsing: client.receiveToEnd())["error"]?.string
      }
      #expect(
        try answer("GET / HTTP/1.1\r\n\r\n") == "Bad Request: The request is neither a JSON object nor a public "
          + "key.")
      let noJSON = try #require(try answer(#"{"request":}"#))
      #expect(noJSON.hasPrefix("Bad Request: The request is not JSON: "))
      #expect(try answer("{}") == "Bad Request: No request type.")
      #expect(try answer(#"{"request":"#, ends: true) == "Bad Request: The request is incomplete.")
      #expect(
        try answer("{" + String(repeating: " ", count: 70_000)) == "Bad Request: A request must not be longer "
          + "than 64 KiB.")
      let zeros = String(repeating: "A", count: 43) + "="
      #expect(try answer(zeros) == "received suspicious public key")
    }
  }

  @Test("Who does not finish a request is closed, and who is one too many is told so")
  func limits() async throws {
    try await serving(requestTime: .milliseconds(300)) { path in
      let slow = try RawClient(path: path)
      slow.send(raw: "{")
      #expect(try slow.receiveToEnd().isEmpty)
    }
    try await serving(connections: 0) { path in
      let refused = try RawClient(path: path).receiveToEnd()
      #expect(refused.contains("There are too many connections"))
    }
  }

  @Test("A process of another user is closed without an answer")
  func foreign() async throws {
    try await serving(user: getuid() + 1) { path in
      let client = try RawClient(path: path)
      client.send(raw: #"{"request":"check"}"#)
      #expect(try client.receiveToEnd().isEmpty)
    }
  }

  @Test("Whatever comes, sealed or not, in whatever pieces, the server answers the next client")
  func anything() async throws {
    try await serving { path in
      var numbers = SplitMix(seed: 20)
      let seeds = [#"{"request":"check"}"#, String(repeating: "A", count: 44), "12:AAAA:AAAA", "\u{0}\u{FF}{\"\\"]
      for _ in 0..<200 {
        let client = try RawClient(path: path)
        var bytes = Array(seeds[Int(numbers.next() % 4)].utf8)
        for _ in 0..<(numbers.next() % 4) {
          bytes[Int(numbers.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: numbers.next())
        }
        let cut = Int(numbers.next() % UInt64(bytes.count))
        client.send(Array(bytes[..<cut]))
        client.send(Array(bytes[cut...]))
        client.endInput()
        _ = try client.receiveToEnd()
      }
      let client = try RawClient(path: path)
      client.send(raw: #"{"request":"check"}"#)
      #expect(try client.receiveToEnd() == Self.checked)
    }
  }
}

private struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
