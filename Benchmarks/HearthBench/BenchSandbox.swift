import Glibc
import HearthControl
import NIOCore
import NIOHTTP1

/// A running `hearth-sandbox`, and a client that only sends requests.
final class BenchSandbox {
  static let body = String(repeating: "x", count: 200)

  let url: String
  private let program: Program
  private let port: Int

  init(in folder: String) throws {
    program = try Program("\(Program.folder)/hearth-sandbox", ["--port-file", "\(folder)/port"], environment: [:])
    let start = ContinuousClock.now
    while Scratch.read("\(folder)/port").isEmpty {
      guard ContinuousClock.now - start < .seconds(30) else {
        throw BenchFailure(description: "The sandbox did not start.")
      }
      sched_yield()
    }
    port = Int(Scratch.read("\(folder)/port").filter(\.isNumber)) ?? 0
    url = "http://127.0.0.1:\(port)"
  }

  func stop() {
    program.signal(SIGTERM)
    program.wait()
  }

  func grant() async throws -> (accessToken: String, refreshToken: String) {
    let answer = try await BareConnection.open(port: port) {
      try await $0.send(.POST, "/__grant", body: #"{"subject":"bench"}"#)
    }
    let grant = try JSON(parsing: Array(answer.readableBytesView))
    guard let accessToken = grant["access_token"]?.string, let refreshToken = grant["refresh_token"]?.string else {
      throw BenchFailure(description: "The sandbox gives no grant: \(grant)")
    }
    return (accessToken, refreshToken)
  }

  /// Makes the API take this many seconds for each answer.
  func setDelay(_ seconds: Double) async throws {
    try await BareConnection.open(port: port) { connection in
      _ = try await connection.send(.DELETE, "/__fault")
      guard seconds > 0 else { return }
      _ = try await connection.send(.POST, "/__fault", body: #"{"path":"/api/notes","delay":\#(seconds)}"#)
    }
  }

  /// Sends a number of requests, each with its own key. Returns the time it took.
  func drain(_ count: Int, atOnce: Int, token: String, round: String) async throws -> Duration {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<atOnce {
        group.addTask { [port] in
          try await BareConnection.open(port: port) { connection in
            for number in stride(from: worker, to: count, by: atOnce) {
              _ = try await connection.send(
                .POST, "/api/notes",
                ["Authorization": "Bearer \(token)", "Idempotency-Key": "bare-\(round)-\(number)"], body: Self.body)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    return ContinuousClock.now - start
  }
}
