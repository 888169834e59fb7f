import HearthControl

/// The daemon as verbs talk to it: every failure is one that ends the program.
struct Daemon: ~Copyable {
  private var client: ControlClient

  init(path: String) throws(CommandFailure) {
    client = try Self.translating { () throws(ControlClient.Failure) in try ControlClient(path: path) }
  }

  private static func translating<Value: ~Copyable>(
    _ body: () throws(ControlClient.Failure) -> Value
  ) throws(CommandFailure) -> Value {
    do throws(ControlClient.Failure) {
      return try body()
    } catch {
      throw CommandFailure(error)
    }
  }

  /// `within: nil`: however long it takes.
  mutating func call(
    _ method: Method, _ params: JSONObject = [:], within limit: Duration? = ControlClient.patience
  ) throws(CommandFailure) -> JSON {
    try call(method.rawValue, params, within: limit)
  }

  mutating func call(
    _ method: String, _ params: JSONObject, within limit: Duration?
  ) throws(CommandFailure) -> JSON {
    switch try attempt(method, params, within: limit) {
    case .success(let result): return result
    case .failure(let error): throw CommandFailure(error)
    }
  }

  /// For one who does something about the daemon's refusal.
  mutating func attempt(
    _ method: Method, _ params: JSONObject, within limit: Duration? = ControlClient.patience
  ) throws(CommandFailure) -> Result<JSON, RPCError> {
    try attempt(method.rawValue, params, within: limit)
  }

  mutating func attempt(
    _ method: String, _ params: JSONObject, within limit: Duration?
  ) throws(CommandFailure) -> Result<JSON, RPCError> {
    do throws(ControlClient.Failure) {
      return .success(try client.call(method, params, within: limit))
    } catch {
      switch error {
      case .refused(let error): return .failure(error)
      case .noDaemon, .unreachable, .foreignServer, .timedOut, .disconnected, .notUnderstood:
        throw CommandFailure(error)
      }
    }
  }

  mutating func session(_ account: String) throws(CommandFailure) -> SessionStatusReport {
    try Self.session(try call(.sessionGet, ["account": .string(account)]), from: .sessionGet)
  }

  mutating func sessions() throws(CommandFailure) -> [SessionStatusReport] {
    try Self.sessions(try call(.sessionList), from: .sessionList)
  }

  /// The next notification; nil when `limit` is over first.
  mutating func nextNotification(within limit: Duration?) throws(CommandFailure) -> Notification? {
    do throws(ControlClient.Failure) {
      if let notification = try client.nextNotification(within: limit) { return notification }
    } catch {
      switch error {
      case .timedOut: return nil
      case .noDaemon, .unreachable, .foreignServer, .disconnected, .notUnderstood, .refused:
        throw CommandFailure(error)
      }
    }
    throw CommandFailure(.noDaemon, "The daemon has stopped.")
  }

  static func session(_ json: JSON, from method: Method) throws(CommandFailure) -> SessionStatusReport {
    guard let session = SessionStatusReport(json: json) else { throw .notUnderstood(method.rawValue) }
    return session
  }

  /// The result `{sessions}`.
  static func sessions(_ json: JSON, from method: Method) throws(CommandFailure) -> [SessionStatusReport] {
    guard let elements = json["sessions"]?.array else { throw .notUnderstood(method.rawValue) }
    var sessions: [SessionStatusReport] = []
    for element in elements { sessions.append(try session(element, from: method)) }
    return sessions
  }
}

extension JSONObject {
  /// Parameters without those that are nil.
  init(given values: KeyValuePairs<String, JSON?>) {
    self.init(values.compactMap { key, value in value.map { Member(key: key, value: $0) } })
  }
}
