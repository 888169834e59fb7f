import AsyncHTTPClient
import HearthCore
import NIOCore
import NIOHTTP1
import Synchronization

/// Reads the response to one request, for one caller, who asks for step after step until the last.
final class ResponseReader: HTTPClientResponseDelegate {
  enum Step: Sendable {
    /// A success whose body is still to come, where the request limits how long that may take.
    case begun
    case ended(Result<HTTPResponse, any Error>)
  }

  private struct State {
    /// As far as it has come.
    var response: HTTPResponse?
    /// How much more of the body is read, in bytes.
    var room = 0
    var caller: CheckedContinuation<Step, Never>?
    /// For a caller who has not asked yet.
    var step: Step?
    /// The last step is told or kept.
    var isOver = false
  }

  /// The rest of the response is of no interest.
  private struct Enough: Error {}

  private let request: HTTPSender.Request
  private let clock: any Clock
  private let state = Mutex(State())

  init(_ request: HTTPSender.Request, clock: any Clock) {
    self.request = request
    self.clock = clock
  }

  func next() async -> Step {
    await withCheckedContinuation { caller in
      let step = state.withLock { state in
        defer { state.step = nil }
        if state.step == nil { state.caller = caller }
        return state.step
      }
      if let step { caller.resume(returning: step) }
    }
  }

  /// Reads no further. The response counts as far as it has come, where its beginning is enough; else there is none, for
  /// this reason.
  func end(_ reason: any Error) {
    tell { state in
      guard var response = state.response, request.acceptsPartialResponse || isLimited(response) else {
        return .ended(.failure(reason))
      }
      response.isTruncated = true
      if isLimited(response) { response.body = [] }
      return .ended(.success(response))
    }
  }

  /// A success of which no more is read than the request says.
  private func isLimited(_ response: HTTPResponse) -> Bool {
    request.successLimit != nil && (200...299).contains(response.status)
  }

  private func tell(_ step: (State) -> Step?) {
    let told: (caller: CheckedContinuation<Step, Never>?, step: Step)? = state.withLock { state in
      guard !state.isOver, let step = step(state) else { return nil }
      if case .ended = step { state.isOver = true }
      defer { state.caller = nil }
      if state.caller == nil { state.step = step }
      return (state.caller, step)
    }
    if let told { told.caller?.resume(returning: told.step) }
  }
}

// MARK: - On the event loop of the request

extension ResponseReader {
  func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    let headers = head.headers.map { APIRequest.Header(name: $0.name, value: $0.value) }
    let response = state.withLock { state in
      // Whoever looks at the clock later finds the head.
      let response = HTTPResponse(status: Int(head.status.code), headers: headers, receivedAt: clock.now())
      state.response = response
      state.room = (isLimited(response) ? request.successLimit?.bytes : nil) ?? request.limit
      return response
    }
    // A body that came with the head has been read by then.
    if isLimited(response) { task.eventLoop.execute { self.tell { _ in .begun } } }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
    let isEnough = state.withLock { state in
      guard !state.isOver else { return true }
      let bytes = part.readableBytesView.prefix(state.room)
      state.response?.body.append(contentsOf: bytes)
      state.room -= bytes.count
      return part.readableBytes > bytes.count
    }
    guard isEnough else { return task.eventLoop.makeSucceededVoidFuture() }
    tell { state in
      guard var response = state.response else { return nil }
      response.isTruncated = true
      if isLimited(response) { response.body = [] }
      return .ended(.success(response))
    }
    return task.eventLoop.makeFailedFuture(Enough())
  }

  func didFinishRequest(task: HTTPClient.Task<Void>) {
    tell { state in state.response.map { .ended(.success($0)) } }
  }
}
