import Glibc
import HearthClient
import HearthControl
import TestSupport

/// A `hearthd` with its own folder, which can be stopped and started again.
final class Daemon {
  private let environment: TestEnvironment
  let folder: String
  private(set) var process: ChildProcess?
  /// Whether it gets the path of its configuration. Otherwise it looks for the file.
  var namesConfiguration = true
  /// A command line that runs the daemon's command line.
  var launcher: [String] = []
  var logLevel = "trace"
  /// Environment variables.
  var variables: [String: String] = [:]
  /// In a debug build, deriving a key from a passphrase takes two seconds of processor time. This makes it cheap.
  var keysAreCheap = true

  init(on environment: TestEnvironment, name: String = "daemon", configuration: String) throws {
    self.environment = environment
    folder = "\(environment.folder)/\(name)"
    try Files.makeFolder(folder, owner: environment.user)
    try configure(configuration)
  }

  var socket: String { "\(folder)/run/s" }
  var state: String { "\(folder)/state" }
  var configurationPath: String { "\(folder)/config.toml" }
  var accounts: String { "\(state)/accounts.json" }
  var credentials: String { "\(state)/credentials" }
  func credential(_ account: String = "work") -> String { "\(credentials)/\(account).json" }

  func configure(_ text: String) throws {
    try Files.write(text, to: configurationPath, owner: environment.user)
  }

  /// The command line of a daemon in this folder.
  var arguments: [String] {
    (namesConfiguration ? ["--config", configurationPath] : [])
      + ["--socket", socket, "--state-dir", state, "--log-level", logLevel]
  }

  /// Starts the daemon and waits until it answers.
  func start() throws {
    let process = try environment.spawn(
      "hearthd", arguments, environment: variables.merging(keysAreCheap ? ["HEARTH_SCRYPT_COST": "1024"] : [:]) { $1 },
      user: environment.user, launcher: launcher)
    self.process = process
    try eventually("the daemon answers") {
      if let end = process.status { throw NeverHappened(description: "hearthd ended (\(end)): \(process.errors)") }
      guard Files.exists(socket) else { return false }
      do {
        _ = try call("daemon.getInfo")
        return true
      } catch ControlClient.Failure.noDaemon {
        return false
      }
    }
  }

  /// Stops the daemon and lets it finish.
  @discardableResult
  func stop(_ signal: Int32 = SIGTERM) throws -> ChildProcess.End? {
    process?.signal(signal)
    return try process?.wait()
  }

  /// Kills the daemon, like a crash.
  func crash() throws {
    process?.signal(SIGKILL)
    try process?.wait()
  }

  func restart() throws {
    try stop()
    try start()
  }

  // MARK: - Calls

  /// Makes a call on its own connection. Returns the result or throws `ControlClient.Failure`. The timeout is that of
  /// other clients, because the daemon may have to derive a key, which takes a debug build long.
  @discardableResult
  func call(_ method: String, _ params: JSONObject = [:]) throws -> JSON {
    guard environment.user == getuid() else { return try callAsItsUser(method, params) }
    var client = try ControlClient(path: socket)
    return try client.call(method, params)
  }

  /// The daemon serves only its own user. If that is not the test's user, hearthctl makes the call as that user.
  private func callAsItsUser(_ method: String, _ params: JSONObject) throws -> JSON {
    let run = try environment.hearthctl(["rpc", method, JSON.object(params).description, "--socket", socket])
    guard run.status != 6 else { throw ControlClient.Failure.noDaemon(path: socket) }
    guard run.status == 0 else { throw NeverHappened(description: "\(method): \(run.errors)") }
    return try JSON(parsing: Array(run.output.utf8))
  }

  /// The error of a call.
  func refusal(of method: String, _ params: JSONObject = [:]) throws -> RPCError {
    do {
      let result = try call(method, params)
      throw NeverHappened(description: "\(method) was not refused: \(result)")
    } catch ControlClient.Failure.refused(let error) {
      return error
    }
  }

  func status(_ account: String = "work") throws -> SessionView {
    try SessionView(try call("session.get", ["account": .string(account)]))
  }

  /// Waits until the session has this state and reason.
  @discardableResult
  func waitFor(
    _ state: String, _ reason: String? = nil, account: String = "work", within limit: Duration = .generous
  ) throws -> SessionView {
    var last: SessionView?
    do {
      return try eventually("\(account) is \(state) \(reason ?? "")", within: limit) {
        let status = try status(account)
        last = status
        return status.state == state && status.reason == reason ? status : nil
      }
    } catch let error as NeverHappened {
      throw NeverHappened(description: "\(error) It is: \(last.map { "\($0.json)" } ?? "unknown")")
    }
  }

  /// Waits until the status satisfies the condition.
  @discardableResult
  func waitUntil(
    _ what: String, account: String = "work", within limit: Duration = .generous,
    _ condition: (SessionView) -> Bool
  ) throws -> SessionView {
    try eventually(what, within: limit) {
      let status = try status(account)
      return condition(status) ? status : nil
    }
  }

  struct Token {
    let secret: String
    let fingerprint: String
  }

  func token(_ account: String = "work", minValidity: Int? = nil) throws -> Token {
    var params: JSONObject = ["account": .string(account)]
    if let minValidity { params["minValiditySeconds"] = JSON(minValidity) }
    let json = try call("session.getToken", params)
    return Token(secret: json["accessToken"]?.string ?? "", fingerprint: json["fingerprint"]?.string ?? "")
  }

  func refresh(_ account: String = "work") throws { try call("session.refresh", ["account": .string(account)]) }

  /// Refreshes through another client, for a test that does more meanwhile.
  static func refresh(at socket: String, _ account: String = "work") throws -> JSON {
    var client = try ControlClient(path: socket)
    return try client.call("session.refresh", ["account": .string(account)])
  }

  /// Signs in with a new grant's refresh token, which is used at once.
  func signIn(
    _ account: String = "work", at sandbox: Sandbox, subject: String = "2482", lifetime: Double? = nil,
    replace: Bool = false
  ) throws {
    let grant = try sandbox.grant(subject, lifetime: lifetime)
    try call(
      "session.import",
      ["account": .string(account), "refreshToken": .string(grant.refreshToken), "replace": .bool(replace)])
  }

  func events(_ topics: String...) throws -> Events { try Events(path: socket, topics: topics) }
}

/// A subscription to the daemon's events.
struct Events: ~Copyable {
  private var client: ControlClient
  let snapshot: JSON

  init(path: String, topics: [String]) throws {
    var client = try ControlClient(path: path)
    let params: JSONObject = topics.isEmpty ? [:] : ["topics": .array(topics.map(JSON.string))]
    snapshot = try client.call("events.subscribe", params)["snapshot"] ?? .null
    self.client = client
  }

  /// The next notification of this name. Skips others.
  mutating func next(_ name: String) throws -> JSON {
    while true {
      let notification = try nextOfAny()
      if notification.method == name { return .object(notification.params) }
    }
  }

  mutating func nextOfAny() throws -> Notification {
    guard let notification = try client.nextNotification(within: .generous) else {
      throw NeverHappened(description: "The daemon closed the connection instead of telling more.")
    }
    return notification
  }
}
