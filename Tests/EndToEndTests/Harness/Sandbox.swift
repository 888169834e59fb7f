import Glibc
import HearthControl
import TestSupport

/// A running `hearth-sandbox`, which can go away and come back at the same address with all it knew.
final class Sandbox {
  struct Grant {
    let accessToken: String
    let refreshToken: String
  }

  private let environment: TestEnvironment
  private let folder: String
  private let options: [String]
  /// A command line that runs the sandbox's.
  private let launcher: [String]
  private let reserved: ReservedPort
  private var process: ChildProcess?

  init(on environment: TestEnvironment, name: String, options: [String], launcher: [String] = []) throws {
    self.environment = environment
    self.options = options
    self.launcher = launcher
    reserved = try ReservedPort()
    folder = "\(environment.folder)/\(name)"
    try Files.makeFolder(folder)
    try start()
  }

  var port: Int { reserved.number }
  var url: String { "http://127.0.0.1:\(port)" }

  func start() throws {
    let portFile = "\(folder)/port"
    unlink(portFile)
    process = try environment.spawn(
      "hearth-sandbox", ["--port", "\(port)", "--port-file", portFile, "--state", "\(folder)/state.json"] + options,
      launcher: launcher)
    try eventually("the sandbox listens") {
      if let end = process?.status { throw NeverHappened(description: "The sandbox ended: \(end)") }
      return !Files.text(portFile).isEmpty
    }
  }

  /// Whether it has a connection that it has not read to its end: what was sent on it may still take effect.
  var isConnected: Bool {
    let digits = String(port, radix: 16, uppercase: true)
    let address = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    // proc(5): after the number the local address, the other one, and the state; 01 is open, 08 closed by the other end.
    return Files.text("/proc/net/tcp").split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[1] == address && ["01", "08"].contains(fields[3])
    }
  }

  /// Goes away: its port refuses connections.
  func stop() throws {
    process?.signal(SIGTERM)
    try process?.wait()
  }

  func call(_ method: String, _ path: String, _ body: JSON? = nil) throws -> JSON {
    let answer = try HTTP.send(method, port: port, path, body)
    guard answer.status == 200 else {
      throw NeverHappened(description: "\(method) \(path) was answered \(answer.status): \(answer.body)")
    }
    return answer.body
  }

  /// A first grant, as if the subject had signed in. `lifetime` in seconds; nil: as the sandbox was told.
  func grant(_ subject: String = "2482", lifetime: Double? = nil) throws -> Grant {
    var request: JSONObject = ["subject": .string(subject)]
    if let lifetime { request["lifetime"] = try JSON(parsing: "\(lifetime)") }
    let grant = try call("POST", "/__grant", .object(request))
    return Grant(
      accessToken: grant["access_token"]?.string ?? "", refreshToken: grant["refresh_token"]?.string ?? "")
  }

  func fault(_ fault: JSON) throws { _ = try call("POST", "/__fault", fault) }
  /// From now on the requests whose path begins with `path` wait until they are released. `further`: more of the fault.
  func hold(_ path: String, _ further: JSONObject = [:]) throws {
    var fault = further
    (fault["path"], fault["hold"]) = (.string(path), true)
    try self.fault(.object(fault))
  }
  func waitUntilHeld(_ count: Int = 1) throws {
    try eventually("\(count) held by the sandbox") { try self.count("held") == count }
  }
  /// Answers the requests that are held, and holds no more.
  func release() throws { _ = try call("POST", "/__release") }
  func clearFaults() throws { _ = try call("DELETE", "/__fault") }
  func revoke() throws { _ = try call("POST", "/__revoke") }
  /// The API refuses every access token that was issued until now.
  func expire() throws { _ = try call("POST", "/__expire") }
  func forgetStats() throws { _ = try call("DELETE", "/__stats") }

  var stats: JSON { get throws { try call("GET", "/__stats") } }

  func count(_ name: String) throws -> Int { try stats[name]?.int ?? -1 }

  /// Successful refreshes of a subject.
  func refreshes(of subject: String = "2482") throws -> Int { try stats["refreshes"]?[subject]?.int ?? 0 }

  /// What the API did, in order.
  var effects: [JSON] { get throws { try stats["effects"]?.array ?? [] } }

  /// Every token that was ever issued.
  var tokens: [String] { get throws { try call("GET", "/__tokens")["tokens"]?.array?.compactMap(\.string) ?? [] } }
}
