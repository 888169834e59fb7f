import HearthControl
import Synchronization
import TestSupport

/// Answers a few methods made for tests, and tells what is going on in it.
///
/// `echo` gives its parameters back, `look` too and changes nothing · `wait` awaits `release()` · `stuck` awaits cancellation · `big {size}` a long
/// text · `subscribe {count, size}` sends notifications from `start` on · `subtract` and `get_data` are those of the
/// specification's examples.
final class ScriptedHandler: ControlHandler {
  private struct State {
    var begun: [String] = []
    var refused: [(method: String?, code: Int)] = []
    var running = 0
    var mostRunning = 0
    var cancelled = 0
    var opened: [ConnectionID] = []
    var lost: [ConnectionID] = []
    var closed: [ConnectionID] = []
    var waiting: [AsyncStream<Void>.Continuation] = []
    var started = 0
    var sinks: [any NotificationSink] = []
    var watchers: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())

  var begun: [String] { state.withLock(\.begun) }
  var refused: [(method: String?, code: Int)] { state.withLock(\.refused) }
  var mostRunning: Int { state.withLock(\.mostRunning) }
  var cancelled: Int { state.withLock(\.cancelled) }
  var opened: [ConnectionID] { state.withLock(\.opened) }
  var lost: [ConnectionID] { state.withLock(\.lost) }
  var closed: [ConnectionID] { state.withLock(\.closed) }
  var waiting: Int { state.withLock(\.waiting.count) }
  var started: Int { state.withLock(\.started) }
  var sinks: [any NotificationSink] { state.withLock(\.sinks) }

  /// Lets one `wait` return.
  func release() {
    change { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.finish()
  }

  /// Returns once `condition` holds.
  func until(_ condition: (ScriptedHandler) -> Bool) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.watchers.append(continuation) }
    continuation.yield()
    for await _ in stream {
      if condition(self) { return }
    }
  }

  @discardableResult
  private func change<Value: Sendable>(_ body: (inout sending State) -> Value) -> Value {
    let (value, watchers) = state.withLock { state in (body(&state), state.watchers) }
    watchers.forEach { $0.yield() }
    return value
  }

  func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse {
    change { state in
      state.begun.append(request.method)
      state.running += 1
      state.mostRunning = max(state.mostRunning, state.running)
    }
    defer { change { $0.running -= 1 } }
    switch request.method {
    case "echo", "look": return .result(.object(request.params))
    case "subtract":
      return .result(JSON((request.params["minuend"]?.int ?? 0) - (request.params["subtrahend"]?.int ?? 0)))
    case "get_data": return .result(["hello", 5])
    case "wait":
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      change { $0.waiting.append(continuation) }
      for await _ in stream {}
      return .result("released")
    case "stuck":
      let (stream, _) = AsyncStream<Void>.makeStream()
      for await _ in stream {}
      change { $0.cancelled += 1 }
      return .failure(.shuttingDown)
    case "big":
      return .result(.string(String(repeating: "x", count: request.params["size"]?.int ?? 0)))
    case "subscribe":
      let sink = peer.openSink()
      change { $0.sinks.append(sink) }
      let count = request.params["count"]?.int ?? 0
      let filling = String(repeating: "x", count: request.params["size"]?.int ?? 0)
      return .subscribed(
        "subscribed",
        start: {
          for number in 0..<count {
            let notification = Notification(method: "told", params: ["number": JSON(number), "x": .string(filling)])
            sink.send(NotificationLines(bytes: notification.line, count: 1))
          }
          self.change { $0.started += 1 }
        })
    default: return .failure(.methodNotFound(request.method))
    }
  }

  func isReadOnly(_ request: Request) -> Bool { request.method == "look" }

  func refused(_ request: Request?, _ error: RPCError) {
    change { $0.refused.append((request?.method, error.code)) }
  }

  func connectionOpened(_ connection: ConnectionID) { change { $0.opened.append(connection) } }

  func connectionLost(_ connection: ConnectionID) { change { $0.lost.append(connection) } }

  func connectionClosed(_ connection: ConnectionID) async {
    change { $0.closed.append(connection) }
  }
}
