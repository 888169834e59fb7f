import Glibc
package import HearthControl

/// The result of a call, both parsed and as the complete JSON that the daemon sent.
package struct Reply<Value: Sendable>: Sendable {
  package let value: Value
  package let json: JSON
}

package struct BegunCall<Method: ControlMethod>: Sendable {
  let id: JSON
}

package enum EitherResult<First, Second> {
  case first(First)
  case second(Second)
}

/// A connection to the daemon for use by one thread. A call blocks until its response arrives or its deadline passes.
/// All errors are of the type `Failure`.
package struct ControlClient: ~Copyable {
  /// The reason why a call failed. The description is a message for the user.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing listens on the socket, or the socket does not exist.
    case noDaemon(path: String)
    case unreachable(path: String, reason: String)
    case forbidden(reason: String)
    /// The server runs as another user. Nothing was sent to it.
    case foreignServer(path: String, user: UInt32)
    /// The daemon did not answer within this time.
    case timedOut(after: Duration)
    /// The connection ended before the response arrived.
    case disconnected
    /// The client's waker interrupted the wait.
    case interrupted
    /// The daemon sent a message that violates the protocol.
    case notUnderstood(String)
    /// This version cannot parse the result.
    case unknownResult(method: String)
    case refused(RPCError)

    package var description: String {
      switch self {
      case .noDaemon(let path):
        "No daemon answers on \(path). Run \"systemctl --user start hearthd\", or \"hearthd\" if you do not use "
          + "systemd."
      case .unreachable(let path, let reason): "Cannot connect to the socket \(path): \(reason)."
      case .forbidden(let reason):
        "Cannot reach the daemon, because a sandbox blocks Unix sockets (\(reason)). Allow AF_UNIX in the sandbox, or "
          + "use a token file (see \"hearthctl docs helpers\")."
      case .foreignServer(let path, let user):
        "The server on \(path) runs as another user (\(user)), so nothing was sent to it. Check the path of the socket."
      case .timedOut(let limit):
        "The daemon did not answer within \(Self.seconds(limit)) s. Check it with \"systemctl --user status hearthd\", "
          + "or allow more time with --timeout."
      case .disconnected:
        "The daemon closed the connection before answering. To find out why, run \"systemctl --user status hearthd\". "
          + "Then run the command again."
      case .interrupted: "The call was interrupted."
      case .notUnderstood(let what): "Cannot parse the daemon's answer: \(what)."
      case .unknownResult(let method):
        "Cannot parse the daemon's answer to \(method). Check that hearthd and its client have the same version."
      case .refused(let error): error.message
      }
    }

    /// Converts an error of this client or an invalid account name. Any other error becomes `notUnderstood`.
    init(_ error: any Error) {
      self = (error as? RPCError).map { .refused($0) } ?? error as? Self ?? .notUnderstood("\(error)")
    }

    /// Formats a duration in seconds, with at most three decimal places.
    private static func seconds(_ duration: Duration) -> String {
      let milliseconds = Int(duration / .milliseconds(1))
      return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }
  }

  package static let timeout: Duration = .seconds(60)
  /// The maximum time to establish a connection. A running daemon accepts connections immediately.
  package static let connectingTimeout: Duration = .seconds(5)
  /// The maximum length of a line from the daemon, in bytes. The limit is generous, because the daemon is trusted.
  private static let lineLimit = 256 << 20
  /// The maximum number of calls to send before reading their responses.
  private static let sentAtOnce = 128

  package let timeout: Duration
  private let socket: UnixSocket
  private var framer = LineFramer(limit: Self.lineLimit)
  private var lastID = 0
  /// Notifications that arrived while the client was waiting for a response.
  private var notifications: [Notification] = []
  /// Responses that arrived while the client was waiting for another response, keyed by the call's id.
  private var early: [String: Response] = [:]
  private var begun: Set<String> = []

  /// Connects within `connecting` and checks that the server runs as `user` (default: this process's user). If `waker`
  /// is set, it can interrupt the client while the client waits for messages.
  package init(
    path: String, user: UInt32 = getuid(), timeout: Duration = ControlClient.timeout,
    connecting: Duration = ControlClient.connectingTimeout, waker: Waker? = nil
  ) throws {
    let socket = try UnixSocket(path: path, within: connecting, waker: waker)
    try socket.requirePeer(user)
    self.socket = socket
    self.timeout = timeout
  }

  /// Makes a call and returns its result. Waits for at most `limit` (default: the client's `timeout`).
  package mutating func call<Method: ControlMethod>(
    _ call: Method, within limit: Duration? = nil
  ) throws -> Reply<Method.Result> {
    try Self.reply(to: Method.self, try self.call(Method.name, call.params, within: limit))
  }

  /// Calls any method, including those that this version does not know.
  package mutating func call(
    _ method: String, _ params: JSONObject = [:], within limit: Duration? = nil
  ) throws -> JSON {
    let deadline = Deadline(after: limit ?? timeout)
    let ids = try send([(method, params)], until: deadline).ids
    return try Self.result(of: try response(to: ids, until: deadline))
  }

  /// Makes independent calls, sending many before reading the first response. Returns their results in order.
  package mutating func call<Method: ControlMethod>(
    each calls: [Method]
  ) throws -> [Result<Method.Result, RPCError>] {
    var results: [Result<Method.Result, RPCError>] = []
    for start in stride(from: 0, to: calls.count, by: Self.sentAtOnce) {
      let calls = calls[start..<min(start + Self.sentAtOnce, calls.count)].map { (Method.name, $0.params) }
      let deadline = Deadline(after: timeout)
      let ids = try send(calls, until: deadline).ids
      begun.formUnion(ids.map(\.description))
      for id in ids {
        switch try response(to: [id], until: deadline).outcome {
        case .success(let json): results.append(.success(try Self.reply(to: Method.self, json).value))
        case .failure(let refusal): results.append(.failure(refusal))
        }
      }
    }
    return results
  }

  /// Sends a call without waiting for its response. Call `response(to:within:)` to get the response.
  package mutating func begin<Method: ControlMethod>(_ call: Method) throws -> BegunCall<Method> {
    let call = BegunCall<Method>(id: try send([(Method.name, call.params)], until: Deadline(after: timeout)).ids[0])
    begun.insert(call.id.description)
    return call
  }

  /// Returns the result of a pending call, or `nil` if the result does not arrive within `limit`. The call then remains
  /// pending.
  package mutating func response<Method>(
    to call: BegunCall<Method>, within limit: Duration
  ) throws -> Reply<Method.Result>? {
    let json: JSON
    do {
      json = try Self.result(of: try response(to: [call.id], until: Deadline(after: limit)))
    } catch Failure.timedOut {
      return nil
    }
    return try Self.reply(to: Method.self, json)
  }

  /// Waits until one of two pending calls is answered and returns its result.
  package mutating func response<First, Second>(
    to first: BegunCall<First>, or second: BegunCall<Second>?
  ) throws -> EitherResult<First.Result, Second.Result> {
    let ids = [first.id] + (second.map { [$0.id] } ?? [])
    let response = try response(to: ids, until: Deadline(after: timeout))
    let json = try Self.result(of: response)
    return response.id == first.id
      ? .first(try Self.reply(to: First.self, json).value) : .second(try Self.reply(to: Second.self, json).value)
  }

  /// Returns the next response to any call, or `nil` if the deadline passes or the waker interrupts the wait.
  mutating func nextResponse(until deadline: Deadline?) throws -> Response? {
    do {
      while true {
        if let response = Response(json: try message(until: deadline)) { return response }
      }
    } catch Failure.timedOut, Failure.interrupted {
      return nil
    }
  }

  /// Sends a call and returns its id, or `nil` if the daemon has closed the connection and received nothing of the call.
  /// `nextResponse` returns the response.
  mutating func send(_ method: String, _ params: JSONObject, until deadline: Deadline) throws -> JSON? {
    let (ids, isSent) = try send([(method, params)], until: deadline)
    // `nil` would be JSON's null here.
    return isSent ? ids[0] : .none
  }

  private mutating func send(
    _ calls: [(method: String, params: JSONObject)], until deadline: Deadline
  ) throws -> (ids: [JSON], isSent: Bool) {
    let ids = calls.indices.map { JSON(lastID + 1 + $0) }
    lastID += calls.count
    let lines = zip(ids, calls).flatMap { Request(id: $0, method: $1.method, params: $1.params).line }
    // Continue if the daemon has closed the connection, because it may have sent an error before, and that error can
    // still be read.
    let written = try socket.write(lines, until: deadline, reading: &framer)
    return (ids, written > 0)
  }

  /// Returns the first response to any of these calls.
  private mutating func response(to ids: [JSON], until deadline: Deadline) throws -> Response {
    for id in ids {
      guard let response = early.removeValue(forKey: id.description) else { continue }
      begun.remove(id.description)
      return response
    }
    while true {
      let json = try message(until: deadline)
      if let notification = Notification(json: json) {
        notifications.append(notification)
      } else if let response = Response(json: json) {
        // An error with a null id applies to the whole connection, for example when there are too many connections.
        guard ids.contains(response.id) || response.id.isNull else {
          keep(response)
          continue
        }
        begun.remove(response.id.description)
        return response
      } else {
        throw Failure.notUnderstood("it is neither a response nor a notification")
      }
    }
  }

  /// Stores a response to a pending call until it is requested. Ignores responses to all other calls.
  private mutating func keep(_ response: Response) {
    if begun.contains(response.id.description) { early[response.id.description] = response }
  }

  static func result(of response: Response) throws -> JSON {
    try response.outcome.mapError { Failure.refused($0) }.get()
  }

  private static func reply<Method: ControlMethod>(
    to method: Method.Type, _ json: JSON
  ) throws -> Reply<Method.Result> {
    guard let value = Method.Result(json: json) else { throw Failure.unknownResult(method: Method.name) }
    return Reply(value: value, json: json)
  }

  /// Returns and removes the notifications that arrived while the client was waiting for responses, oldest first.
  package mutating func earlierNotifications() -> [Notification] {
    defer { notifications = [] }
    return notifications
  }

  /// Returns the next notification, or `nil` once the daemon has closed the connection.
  package mutating func nextNotification(within limit: Duration? = nil) throws -> Notification? {
    if !notifications.isEmpty { return notifications.removeFirst() }
    let deadline = limit.map { Deadline(after: $0) }
    do {
      while true {
        let json = try message(until: deadline)
        if let notification = Notification(json: json) { return notification }
        if let response = Response(json: json) { keep(response) }
      }
    } catch Failure.disconnected {
      return nil
    }
  }

  private mutating func message(until deadline: Deadline?) throws -> JSON {
    while true {
      let line: [UInt8]?
      do { line = try framer.next() } catch { throw Failure.notUnderstood("a line is too long") }
      guard let line else {
        framer.push(try socket.read(until: deadline))
        continue
      }
      do { return try JSON(parsing: line) } catch { throw Failure.notUnderstood("\(error)") }
    }
  }
}
