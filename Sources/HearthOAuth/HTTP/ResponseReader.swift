import AsyncHTTPClient
import HearthCore
import NIOCore
import NIOHTTP1
import Synchronization

/// Reads the response to one request, for one caller, who asks once.
final class ResponseReader: HTTPClientResponseDelegate {
  private struct State {
    /// As far as it has come.
    var response: HTTPResponse?
    /// How much more of the body is read, in bytes.
    var room = 0
    /// When the request last moved, by the clock that nobody sets.
    var movedAt: Timestamp
    /// What ends it when it takes too long.
    var timers: [ClockTimer] = []
    /// Nil while it goes on.
    var result: Result<HTTPResponse, any Error>?
    var caller: CheckedContinuation<Result<HTTPResponse, any Error>, Never>?
  }

  /// The response did not come in time.
  struct Late: Error {}

  /// The rest of the response is of no interest.
  private struct Enough: Error {}

  private let request: HTTPSender.Request
  private let clock: any Clock
  private let state: Mutex<State>

  init(_ request: HTTPSender.Request, clock: any Clock) {
    self.request = request
    self.clock = clock
    state = Mutex(State(movedAt: clock.steadyNow()))
  }

  /// What it comes to. A caller that is cancelled is answered at once.
  func result() async -> Result<HTTPResponse, any Error> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { caller in
        let result = state.withLock { state in
          if state.result == nil { state.caller = caller }
          return state.result
        }
        if let result { caller.resume(returning: result) }
      }
    } onCancel: {
      end(CancellationError())
    }
  }

  /// Ends it as late when this time has passed since the request began or, where no more than its status is needed, since it
  /// last moved.
  func limit(to time: Duration) { limit(to: time, after: time) }

  private func limit(to time: Duration, after wait: Duration) {
    call(after: wait) { [self] in
      let left = state.withLock(\.movedAt) + time - clock.steadyNow()
      if left > .zero { limit(to: time, after: left) } else { end(Late()) }
    }
  }

  private func call(after wait: Duration, _ action: @escaping @Sendable () -> Void) {
    if state.withLock({ $0.result != nil }) { return }
    let timer = clock.timer(at: clock.now() + wait, action)
    let isOver = state.withLock { state in
      if state.result == nil { state.timers.append(timer) }
      return state.result != nil
    }
    if isOver { timer.cancel() }
  }

  private func moved() {
    if request.bodyLimit == nil { return }
    let now = clock.steadyNow()
    state.withLock { $0.movedAt = now }
  }

  /// Reads no further. The response counts as far as it has come, where its beginning is enough; else there is none, for
  /// this reason.
  func end(_ reason: any Error) {
    finish { state in
      guard var response = state.response, request.bodyLimit != nil else { return .failure(reason) }
      response.isTruncated = true
      return .success(response)
    }
  }

  private func finish(_ outcome: (State) -> Result<HTTPResponse, any Error>?) {
    let finished = state.withLock { state in
      guard state.result == nil, let result = outcome(state) else { return nil as State? }
      state.result = result
      defer { (state.caller, state.timers) = (nil, []) }
      return state
    }
    guard let finished, let result = finished.result else { return }
    finished.timers.forEach { $0.cancel() }
    finished.caller?.resume(returning: result)
  }
}

// MARK: - On the event loop of the request

extension ResponseReader {
  func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) { moved() }

  func didSendRequest(task: HTTPClient.Task<Void>) { moved() }

  func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    let headers = head.headers.map { APIRequest.Header(name: $0.name, value: $0.value.streamSafe) }
    state.withLock { state in
      // Whoever looks at the clock later finds the head.
      let response = HTTPResponse(status: Int(head.status.code), headers: headers, receivedAt: clock.now())
      state.response = response
      state.room = request.bodyLimit?.bytes ?? request.limit
    }
    if let time = request.bodyLimit?.time {
      // A body that came with the head has been read by then.
      task.eventLoop.execute { self.call(after: time) { self.end(Late()) } }
    }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
    let isEnough = state.withLock { state in
      guard state.result == nil else { return true }
      let bytes = part.readableBytesView.prefix(state.room)
      state.response?.body.append(contentsOf: bytes)
      state.room -= bytes.count
      return part.readableBytes > bytes.count
    }
    guard isEnough else { return task.eventLoop.makeSucceededVoidFuture() }
    finish { state in
      guard var response = state.response else { return nil }
      response.isTruncated = true
      return .success(response)
    }
    return task.eventLoop.makeFailedFuture(Enough())
  }

  func didFinishRequest(task: HTTPClient.Task<Void>) {
    finish { state in state.response.map { .success($0) } }
  }
}
