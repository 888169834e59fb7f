import Glibc
import HearthControl
import HearthCore
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthLinux

/// Answers every token request with the account's name, and keeps what it was asked.
private final class EchoingAgent: OIDCAgentHandler {
  private let state = Mutex<[OIDCAgentRequest]>([])

  var asked: [OIDCAgentRequest] { state.withLock(\.self) }

  func answer(_ request: OIDCAgentRequest) async -> OIDCAgentAnswer {
    state.withLock { $0.append(request) }
    return .success(info: .string("asked"))
  }
}

@Suite("The socket for oidc-agent's clients", .timeLimit(.minutes(1)))
struct OIDCAgentServerTests {
  private let agent = EchoingAgent()
  private static let asked = #"{"status":"success","info":"asked"}"#

  private func serving(
    limits: OIDCAgentServer.Limits = .init(), user: UInt32 = getuid(),
    _ body: @Sendable @escaping (String) throws -> Void
  ) async throws {
    let folder = TemporaryFolder()
    let path = folder.file("oidc-agent.sock")
    let server = OIDCAgentServer(
      socket: try ListeningSocket(path: path), handler: agent, limits: limits, user: user,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let result = await Result { try await onThread { try body(path) } }
      await server.shutDown()
      #expect(access(path, F_OK) != 0, "the socket's file was left behind")
      try await group.waitForAll()
      try result.get()
    }
  }

  @Test("A plain request is answered, in pieces or not, and then the connection is closed")
  func plain() async throws {
    try await serving { path in
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      let client = try RawClient(path: path)
      client.send(raw: #" {"request":"check","application_hint":"}\"#)
      client.send(raw: #""{"}"# + "\n")
      #expect(try client.receiveToEnd() == Self.asked)
      let halfClosed = try RawClient(path: path)
      halfClosed.send(raw: #"{"request":"loaded_accounts"}"#)
      halfClosed.endInput()
      #expect(try halfClosed.receiveToEnd() == Self.asked)
    }
    #expect(agent.asked == [.check, .loadedAccounts])
  }

  @Test("What is no request is answered by a sentence, without the handler")
  func garbage() async throws {
    try await serving { path in
      func answer(_ text: String, ends: Bool = false) throws -> String? {
        let client = try RawClient(path: path)
        client.send(raw: text)
        if ends { client.endInput() }
        return try JSON(parsing: client.receiveToEnd())["error"]?.string
      }
      #expect(try answer("GET / HTTP/1.1\r\n\r\n") == "Bad Request: This is neither a JSON object nor a public key.")
      let noJSON = try #require(try answer(#"{"request":}"#))
      #expect(noJSON.hasPrefix("Bad Request: This is no JSON: "))
      #expect(try answer("{}") == "Bad Request: No request type.")
      #expect(try answer(#"{"request":"#, ends: true) == "Bad Request: The request ends in the middle.")
      #expect(try answer("{" + String(repeating: " ", count: 70_000)) == "Bad Request: A request may have 64 KiB.")
      let zeros = String(repeating: "A", count: 43) + "="
      #expect(try answer(zeros) == "received suspicious public key")
    }
    #expect(agent.asked.isEmpty)
  }

  @Test("Who does not finish a request is closed, and who is one too many is told so")
  func limits() async throws {
    var limits = OIDCAgentServer.Limits()
    limits.requestTime = .milliseconds(300)
    try await serving(limits: limits) { path in
      let slow = try RawClient(path: path)
      slow.send(raw: "{")
      #expect(try slow.receiveToEnd().isEmpty)
    }
    limits.connections = 0
    try await serving(limits: limits) { path in
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
    #expect(agent.asked.isEmpty)
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
      #expect(try client.receiveToEnd() == Self.asked)
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

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
