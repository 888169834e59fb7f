import Glibc
import HearthControl
import TestSupport

/// A running `hearth-sandbox`, which can stop and start again at the same address with its state.
final class Sandbox {
  struct Grant {
    let accessToken: String
    let refreshToken: String
  }

  private let environment: TestEnvironment
  private let folder: String
  private let options: [String]
  /// A command line that runs the sandbox's command line.
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

  /// Whether it has a connection with unread data, which may still take effect.
  var isConnected: Bool {
    let digits = String(port, radix: 16, uppercase: true)
    let address = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    // proc(5): after the number come the local address, the other one, and the state: 01 is open, 08 closed by the
    // other end.
    return Files.text("/proc/net/tcp").split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[1] == address && ["01", "08"].contains(fields[3])
    }
  }

  /// Stops the sandbox, so that its port refuses connections.
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

  /// A new grant, as if the subject had signed in. `lifetime` is in seconds; nil for the sandbox's default.
  func grant(_ subject: String = "2482", lifetime: Double? = nil) throws -> Grant {
    var request: JSONObject = ["subject": .string(subject)]
    if let lifetime { request["lifetime"] = try JSON(parsing: "\(lifetime)") }
    let grant = try call("POST", "/__grant", .object(request))
    return Grant(
      accessToken: grant["access_token"]?.string ?? "", refreshToken: grant["refresh_token"]?.string ?? "")
  }

  func fault(_ fault: JSON) throws { _ = try call("POST", "/__fault", fault) }
  /// Holds requests to paths that start with `path` until they are released. `further` has more keys of the fault.
  func hold(_ path: String, _ further: JSONObject = [:]) throws {
    var fault = further
    (fault["path"], fault["hold"]) = (.string(path), true)
    try self.fault(.object(fault))
  }
  func waitUntilHeld(_ count: Int = 1) throws {
    try eventually("\(count) held by the sandbox") { try self.count("held") == count }
  }
  /// Answers the held requests, and holds no more.
  func release() throws { _ = try call("POST", "/__release") }
  func clearFaults() throws { _ = try call("DELETE", "/__fault") }
  func revoke() throws { _ = try call("POST", "/__revoke") }
  /// Makes the API reject every access token issued so far.
  func expire() throws { _ = try call("POST", "/__expire") }
  func forgetStats() throws { _ = try call("DELETE", "/__stats") }

  var stats: JSON { get throws { try call("GET", "/__stats") } }

  func count(_ name: String) throws -> Int { try stats[name]?.int ?? -1 }

  /// The number of successful refreshes of a subject.
  func refreshes(of subject: String = "2482") throws -> Int { try stats["refreshes"]?[subject]?.int ?? 0 }

  /// The effects of the API, in order.
  var effects: [JSON] { get throws { try stats["effects"]?.array ?? [] } }

  /// Every token that was issued.
  var tokens: [String] { get throws { try call("GET", "/__tokens")["tokens"]?.array?.compactMap(\.string) ?? [] } }
}
