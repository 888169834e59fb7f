import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization

@testable import hearth_sandbox

/// A sandbox whose clock the test moves, and the calls that tests make on it.
struct Harness: Sendable {
  /// Seconds since the start.
  final class Time: Sendable {
    private let seconds = Mutex(0.0)
    var now: Date { Date(timeIntervalSince1970: 1_795_000_000 + seconds.withLock(\.self)) }
    func advance(_ step: Double) { seconds.withLock { $0 += step } }
  }

  struct Answer: Sendable {
    let status: Int
    let headers: HTTPFields
    let body: String

    func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      return try decoder.decode(type, from: Data(body.utf8))
    }

    var error: String? { try? decoded(as: ErrorBody.self).error }
  }

  let time: Time
  let sandbox: Sandbox
  private let client: any TestClientProtocol

  private init(_ sandbox: Sandbox, _ time: Time, _ client: any TestClientProtocol) {
    self.sandbox = sandbox
    self.client = client
    self.time = time
  }

  static func run(
    _ settings: Settings = Settings(), setup: TestingSetup = .router, _ test: @Sendable (Harness) async throws -> Void
  ) async throws {
    let time = Time()
    let sandbox = Sandbox(settings: settings) { time.now }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let application = sandbox.application(host: "127.0.0.1", port: 0, logger: logger)
    try await application.test(setup) { try await test(Harness(sandbox, time, $0)) }
  }

  func call(
    _ method: HTTPRequest.Method, _ path: String, bearer: String? = nil, headers: HTTPFields = [:], body: String = ""
  ) async throws -> Answer {
    var headers = headers
    if let bearer { headers[.authorization] = "Bearer \(bearer)" }
    let buffer = body.isEmpty ? nil : ByteBuffer(string: body)
    return try await client.execute(uri: path, method: method, headers: headers, body: buffer) { response in
      Answer(
        status: response.status.code, headers: response.headers, body: String(buffer: response.body))
    }
  }

  func grant(_ json: String = #"{"subject":"2482"}"#) async throws -> Grant {
    try await call(.post, "/__grant", body: json).decoded()
  }

  func token(_ form: String, headers: HTTPFields = [:]) async throws -> Answer {
    try await call(.post, "/token", headers: headers, body: form)
  }

  func refresh(_ token: String?) async throws -> Answer {
    try await self.token("grant_type=refresh_token&refresh_token=\(token ?? "")")
  }

  var statistics: Statistics { sandbox.state.withLock(\.statistics) }
  /// How many requests wait to be released.
  var held: Int { sandbox.held.withLock(\.count) }
  var effects: [APILedger.Effect] { sandbox.state.withLock(\.ledger.effects) }
}
