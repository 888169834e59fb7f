import ArgumentParser
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

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
  let port: Int

  static func run(
    _ options: [String] = [], _ test: @Sendable (Harness) async throws -> Void
  ) async throws {
    let time = Time()
    let sandbox = Sandbox(settings: try HearthSandbox.parse(options)) { time.now }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let application = sandbox.application(host: "127.0.0.1", port: 0, logger: logger) { continuation.yield($1) }
    let services = ServiceGroup(services: [application], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        try await services.run()
      }
      let port = try #require(await ports.first { _ in true })
      try await test(Harness(time: time, sandbox: sandbox, port: port))
      await services.triggerGracefulShutdown()
      try await group.waitForAll()
    }
  }

  func call(
    _ method: HTTPRequest.Method, _ path: String, bearer: String? = nil, headers: HTTPFields = [:], body: String = ""
  ) async throws -> Answer {
    let fields = Self.fields(headers, bearer: bearer)
    let answer = try await onThread {
      try RawHTTP.send(method.rawValue, port: port, path, headers: fields, body: body)
    }
    var received = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { received.append(HTTPField(name: name, value: value)) }
    }
    return Answer(status: answer.status, headers: received, body: answer.body)
  }

  /// Sends a request on a connection of its own, and awaits no answer.
  func send(
    _ method: HTTPRequest.Method, _ path: String, bearer: String? = nil, headers: HTTPFields = [:], body: String = ""
  ) throws -> RawClient {
    let client = try RawClient(port: port)
    client.send(
      raw: RawHTTP.request(method.rawValue, path, headers: Self.fields(headers, bearer: bearer), body: body))
    return client
  }

  private static func fields(_ headers: HTTPFields, bearer: String?) -> [(name: String, value: String)] {
    headers.map { ($0.name.rawName, $0.value) } + (bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
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
