import HearthControl
import HearthThreads
import Synchronization

/// A connection shared by concurrent calls, whose responses may arrive in any order. A dedicated thread does the
/// blocking I/O, so that no task blocks.
final class CallLine: Sendable {
  /// The connection ended before the call was answered.
  struct Lost: Error {
    let failure: ControlClient.Failure
    /// Whether the daemon may have received the call.
    let wasSent: Bool
  }

  private typealias Continuation = CheckedContinuation<JSON, any Error>

  private struct Call {
    let number: Int
    let method: String
    let params: JSONObject
    let deadline: Deadline
  }

  private struct State {
    var lastNumber = 0
    var queue: [Call] = []
    /// The waiting tasks, by call number.
    var waiting: [Int: Continuation] = [:]
    var isClosed = false
    var end: ControlClient.Failure?
  }

  private let waker = Waker()
  private let state = Mutex(State())

  /// Starts connecting in the background. Calls made in the meantime are queued.
  init(path: String, connecting: Duration) {
    WorkerThread(linger: 0).enqueue { self.run(path: path, connecting: connecting) }
  }

  /// Whether the connection has ended. If so, callers need a new connection.
  var isOver: Bool { state.withLock { $0.end != nil } }

  /// Closes the connection. Must not be called while calls are pending.
  func close() {
    state.withLock { $0.isClosed = true }
    waker.wake()
  }

  /// Makes a call and returns its result. Throws `Lost`, `ControlClient.Failure` or, if the task is cancelled,
  /// `CancellationError`.
  func call(_ method: String, _ params: JSONObject, within limit: Duration) async throws -> JSON {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let call = Call(number: number, method: method, params: params, deadline: Deadline(after: limit))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { take(call, $0) }
    } onCancel: {
      finish(number, .failure(CancellationError()))
    }
  }

  private func take(_ call: Call, _ continuation: Continuation) {
    let refusal: (any Error)? = state.withLock { state in
      // If the task was cancelled before the continuation was registered, `onCancel` found nothing to resume.
      if Task.isCancelled { return CancellationError() }
      if let end = state.end { return Lost(failure: end, wasSent: false) }
      state.queue.append(call)
      state.waiting[call.number] = continuation
      return nil
    }
    if let refusal { return continuation.resume(throwing: refusal) }
    waker.wake()
  }

  private func finish(_ number: Int, _ result: Result<JSON, any Error>) {
    let continuation = state.withLock { state in
      state.queue.removeAll { $0.number == number }
      return state.waiting.removeValue(forKey: number)
    }
    continuation?.resume(with: result)
  }

  // MARK: - On the thread

  private func run(path: String, connecting: Duration) {
    do {
      var client = try ControlClient(path: path, connecting: connecting, waker: waker)
      try serve(&client)
      end(.disconnected)
    } catch {
      end(ControlClient.Failure(error))
    }
  }

  /// Sends calls and delivers their responses until `close` is called.
  private func serve(_ client: inout ControlClient) throws {
    var begun: [JSON: Call] = [:]
    while true {
      for call in newCalls() {
        // Do not send an overdue call, because a send that times out would close the connection for all other calls.
        guard call.deadline.end > .now else {
          finish(call.number, .failure(ControlClient.Failure.timedOut(after: call.deadline.limit)))
          continue
        }
        // If sending fails, `end` reports the call as sent, because the daemon may already have received it.
        guard let id = try client.send(call.method, call.params, until: call.deadline) else {
          // Put the call back, so that `end` reports it as not sent once the daemon's last responses have been read.
          state.withLock { $0.queue.append(call) }
          continue
        }
        begun[id] = call
      }
      if state.withLock({ $0.isClosed }) { return }
      let deadlines = begun.values.map(\.deadline) + state.withLock { $0.queue.map(\.deadline) }
      let response = try client.nextResponse(until: deadlines.min { $0.end < $1.end })
      if let response {
        // An error with a null id applies to the whole connection, for example when there are too many connections.
        if response.id.isNull { _ = try ControlClient.result(of: response) }
        if let call = begun.removeValue(forKey: response.id) {
          finish(call.number, Result { try ControlClient.result(of: response) })
        }
      }
      let now = ContinuousClock.now
      for (id, call) in begun where call.deadline.end <= now {
        begun[id] = nil
        finish(call.number, .failure(ControlClient.Failure.timedOut(after: call.deadline.limit)))
      }
    }
  }

  private func newCalls() -> [Call] {
    state.withLock { state in
      defer { state.queue = [] }
      return state.queue
    }
  }

  private func end(_ failure: ControlClient.Failure) {
    let (waiting, unsent) = state.withLock { state in
      defer { (state.waiting, state.queue, state.end) = ([:], [], failure) }
      return (state.waiting, Set(state.queue.map(\.number)))
    }
    for (number, continuation) in waiting {
      continuation.resume(throwing: Lost(failure: failure, wasSent: !unsent.contains(number)))
    }
  }
}
