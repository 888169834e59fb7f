import Glibc

/// A result: what this version understands of it, and all that the daemon sent.
package struct Reply<Value: WireValue>: Sendable {
  package let value: Value
  package let json: JSON
}

/// One connection to the daemon, for one thread: a call blocks until its response comes or its deadline has passed.
package struct ControlClient: ~Copyable {
  /// Why a call has no result. The description is one sentence for people.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing listens there, or the listener closed the connection at once.
    case noDaemon(path: String)
    case unreachable(path: String, reason: String)
    /// The server runs under another user id: nothing was sent to it.
    case foreignServer(path: String, user: UInt32)
    case timedOut
    /// The connection ended before the response came.
    case disconnected
    /// A line that the protocol does not know.
    case notUnderstood(String)
    /// A result in a form that this version does not know.
    case unknownResult(method: String)
    /// The daemon responded with an error.
    case refused(RPCError)

    package var description: String {
      switch self {
      case .noDaemon(let path):
        "No daemon answers on \(path): start it with \"systemctl --user start hearthd\"."
      case .unreachable(let path, let reason): "The socket \(path) cannot be reached: \(reason)."
      case .foreignServer(let path, let user):
        "The server on \(path) belongs to another user (\(user)): nothing was sent to it."
      case .timedOut: "The daemon did not answer in time."
      case .disconnected: "The daemon closed the connection before it answered."
      case .notUnderstood(let what): "The daemon's answer cannot be understood: \(what)."
      case .unknownResult(let method):
        "The daemon's answer to \(method) cannot be understood: is its version another one?"
      case .refused(let error): error.message
      }
    }
  }

  /// How long a call may take unless it says otherwise.
  package static let patience: Duration = .seconds(60)
  /// Of a line from the daemon, which is trusted: its own uid was checked.
  private static let lineLimit = 256 << 20

  private let path: String
  private let socket: UnixSocket
  private var framer = LineFramer(limit: Self.lineLimit)
  private var lastID = 0
  /// Notifications that came while an answer was awaited.
  private var notifications: [Notification] = []

  /// Connects and makes sure that the server runs under `user`, this process's own.
  package init(path: String, user: UInt32 = getuid()) throws(Failure) {
    socket = try Self.connect(to: path, user: user)
    self.path = path
  }

  private static func connect(to path: String, user: UInt32) throws(Failure) -> UnixSocket {
    do throws(UnixSocket.Failure) {
      let socket = try UnixSocket(path: path)
      try socket.requirePeer(user)
      return socket
    } catch {
      switch error {
      case .closed, .system(ENOENT), .system(ECONNREFUSED): throw .noDaemon(path: path)
      case .timedOut, .system, .foreign: throw failure(error, path: path)
      }
    }
  }

  /// Sends a call and waits for its result. `within: nil`: however long it takes.
  package mutating func call<Method: ControlMethod>(
    _ call: Method, within limit: Duration? = ControlClient.patience
  ) throws(Failure) -> Reply<Method.Result> {
    let json = try self.call(Method.name, call.params, within: limit)
    guard let value = Method.Result(json: json) else { throw .unknownResult(method: Method.name) }
    return Reply(value: value, json: json)
  }

  /// The same for a method that this version need not know.
  package mutating func call(
    _ method: String, _ params: JSONObject = [:], within limit: Duration? = ControlClient.patience
  ) throws(Failure) -> JSON {
    let deadline = limit.map { ContinuousClock.now + $0 }
    lastID += 1
    let id = JSON(lastID)
    do throws(UnixSocket.Failure) {
      try socket.write(Request(id: id, method: method, params: params).line, until: deadline)
    } catch {
      switch error {
      // The daemon may have said why before it closed the connection.
      case .closed: break
      case .timedOut, .system, .foreign: throw Self.failure(error, path: path)
      }
    }
    while true {
      let json = try message(until: deadline)
      if let notification = Notification(json: json) {
        notifications.append(notification)
      } else if let response = Response(json: json) {
        // A response to id null is about the connection: there are too many, or a line was too long.
        guard response.id == id || response.id.isNull else { continue }
        switch response.outcome {
        case .success(let result): return result
        case .failure(let error): throw .refused(error)
        }
      } else {
        throw .notUnderstood("it is neither a response nor a notification")
      }
    }
  }

  /// The next notification, in the order in which they came; nil when the daemon has closed the connection.
  package mutating func nextNotification(within limit: Duration? = nil) throws(Failure) -> Notification? {
    if !notifications.isEmpty { return notifications.removeFirst() }
    let deadline = limit.map { ContinuousClock.now + $0 }
    while true {
      do {
        if let notification = Notification(json: try message(until: deadline)) { return notification }
      } catch .disconnected {
        return nil
      }
    }
  }

  private mutating func message(until deadline: ContinuousClock.Instant?) throws(Failure) -> JSON {
    while true {
      if let line = try line() {
        do throws(JSONError) {
          return try JSON(parsing: line)
        } catch {
          throw .notUnderstood("\(error)")
        }
      }
      do throws(UnixSocket.Failure) {
        framer.push(try socket.read(until: deadline))
      } catch {
        throw Self.failure(error, path: path)
      }
    }
  }

  private mutating func line() throws(Failure) -> [UInt8]? {
    do throws(LineFramer.LineTooLong) {
      return try framer.next()
    } catch {
      throw .notUnderstood("a line is too long")
    }
  }

  private static func failure(_ failure: UnixSocket.Failure, path: String) -> Failure {
    switch failure {
    case .closed: .disconnected
    case .timedOut: .timedOut
    case .foreign(let user): .foreignServer(path: path, user: user)
    case .system(let number): .unreachable(path: path, reason: String(cString: strerror(number)))
    }
  }
}
