import AsyncHTTPClient
import Glibc
import HearthControl
import NIOCore
import NIOHTTP1

/// A running `hearth-sandbox`, and a client that does nothing but send.
final class BenchSandbox {
  static let body = String(repeating: "x", count: 200)

  let url: String
  private let program: Program
  private let sender: Sender

  init(in folder: String) throws {
    program = try Program("\(Program.folder)/hearth-sandbox", ["--port-file", "\(folder)/port"], environment: [:])
    let start = ContinuousClock.now
    while Scratch.read("\(folder)/port").isEmpty {
      guard ContinuousClock.now - start < .seconds(30) else {
        throw BenchFailure(description: "The sandbox does not start.")
      }
      sched_yield()
    }
    let url = "http://127.0.0.1:\(Scratch.read("\(folder)/port").filter(\.isNumber))"
    self.url = url
    sender = Sender(url: url)
  }

  func stop() async throws {
    program.signal(SIGTERM)
    program.wait()
    try await sender.client.shutdown()
  }

  func grant() async throws -> (accessToken: String, refreshToken: String) {
    let grant = try await sender.post("/__grant", [], #"{"subject":"bench"}"#)
    guard let accessToken = grant["access_token"]?.string, let refreshToken = grant["refresh_token"]?.string else {
      throw BenchFailure(description: "The sandbox gives no grant: \(grant)")
    }
    return (accessToken, refreshToken)
  }

  /// Has the API take so many seconds for each answer.
  func setDelay(_ seconds: Double) async throws {
    try await sender.delete("/__fault")
    if seconds > 0 { _ = try await sender.post("/__fault", [], #"{"path":"/api/notes","delay":\#(seconds)}"#) }
  }

  /// Sends so many requests, each with a key of its own; returns how long it took.
  func drain(_ count: Int, atOnce: Int, token: String, round: String) async throws -> Duration {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<atOnce {
        group.addTask { [sender] in
          for number in stride(from: worker, to: count, by: atOnce) {
            _ = try await sender.post(
              "/api/notes",
              [("Authorization", "Bearer \(token)"), ("Idempotency-Key", "bare-\(round)-\(number)")], Self.body)
          }
        }
      }
      try await group.waitForAll()
    }
    return ContinuousClock.now - start
  }
}

/// Sends, and awaits the answer.
private struct Sender: Sendable {
  let client = HTTPClient()
  let url: String

  func delete(_ path: String) async throws {
    var request = HTTPClientRequest(url: url + path)
    request.method = .DELETE
    let response = try await client.execute(request, timeout: .seconds(30))
    _ = try await response.body.collect(upTo: 1 << 20)
  }

  func post(_ path: String, _ headers: [(String, String)], _ body: String) async throws -> JSON {
    var request = HTTPClientRequest(url: url + path)
    request.method = .POST
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = .bytes(ByteBuffer(string: body))
    let response = try await client.execute(request, timeout: .seconds(30))
    let answer = try await response.body.collect(upTo: 1 << 20)
    guard response.status == .ok else { throw BenchFailure(description: "\(path) was answered \(response.status).") }
    return headers.isEmpty ? try JSON(parsing: Array(answer.readableBytesView)) : .null
  }
}
