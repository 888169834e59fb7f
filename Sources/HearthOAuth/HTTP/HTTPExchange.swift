import AsyncHTTPClient
import HearthCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A request that is under way, whose bodies go in pieces. Neither is held beyond `APIRequest.pieceLimit`: of the one no more
/// is taken before the network has it, of the other no more is read before it is asked for.
final class HTTPExchange: APIExchange {
  private struct State {
    var task: HTTPClient.Task<Void>?
    var isCancelled = false

    /// Where the body goes, as soon as the head has left.
    var writer: HTTPClient.Body.StreamWriter?
    /// Completed with the body, or with the exchange.
    var bodyEnd: EventLoopPromise<Void>?
    /// Bytes of the body that the network has not taken.
    var unsent = 0
    /// The answer has come before the end of the body, the rest of which is not sent: it is a refusal, or has no body.
    var isRefused = false

    /// Without its body.
    var response: APIResponse?
    /// What was not read of the response's body.
    var unread = ByteBuffer()
    var isEmpty = false
    /// Completed as soon as more may come.
    var demand: EventLoopPromise<Void>?

    var end: Result<Void, ExchangeFailure>?
    var lastMoved: Timestamp
    /// The tasks that wait until something of this has changed.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let clock: any Clock
  private let explain: @Sendable (any Error, _ hasAnswer: Bool) -> ExchangeFailure
  private let ended: @Sendable (_ isComplete: Bool) -> Void
  private let state: Mutex<State>

  /// `explain`: what an error of the client means for the request; called once at most. `ended`: told
  /// once, whether the whole request has left.
  init(
    clock: any Clock,
    explain: @escaping @Sendable (any Error, _ hasAnswer: Bool) -> ExchangeFailure,
    ended: @escaping @Sendable (_ isComplete: Bool) -> Void
  ) {
    (self.clock, self.explain, self.ended) = (clock, explain, ended)
    state = Mutex(State(lastMoved: clock.now()))
  }

  var lastMoved: Timestamp { state.withLock(\.lastMoved) }

  /// The body that `write` fills; nil where none is to come in pieces.
  func body(_ upload: APIRequest.Upload?) -> HTTPClient.Body? {
    guard let upload else { return nil }
    let length: Int64? = if case .sized(let count) = upload { Int64(count) } else { nil }
    let end = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    state.withLock { $0.bodyEnd = end }
    return .stream(contentLength: length) { [self] writer in
      change { if $0.end == nil { $0.writer = writer } }
      return end.futureResult
    }
  }

  func run(_ task: HTTPClient.Task<Void>) {
    let isCancelled = state.withLock { state in
      if state.end == nil { state.task = task }
      return state.isCancelled
    }
    task.futureResult.whenFailure { self.end(.failure($0)) }
    if isCancelled { task.cancel() }
  }

  func end(_ result: Result<Void, any Error>) {
    let (demand, bodyEnd, isFirst) = state.withLock { state in
      defer { (state.demand, state.bodyEnd) = (nil, nil) }
      return (state.demand, state.bodyEnd, state.end == nil)
    }
    guard isFirst else { return }
    change { state in
      state.end = result.mapError { explain($0, state.response != nil) }
      // Both hold the request, with its token, and the request's body holds this exchange.
      (state.task, state.writer) = (nil, nil)
    }
    demand?.succeed()
    // Where it succeeded, the server would take what it has for the whole body.
    bodyEnd?.fail(Cancelled(reason: "the body is not complete"))
    ended(bodyEnd == nil)
  }

  /// Why the caller has given up.
  struct Cancelled: Error {
    let reason: String
  }

  func cancel(_ reason: String) {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    end(.failure(Cancelled(reason: reason)))
    task?.cancel()
  }

  // MARK: - Waiting

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  /// What `read` finds in the state as soon as that is something.
  private func wait<Value: Sendable>(
    for read: (inout State) throws(ExchangeFailure) -> Value?
  ) async throws(ExchangeFailure) -> Value {
    while true {
      var found: Result<Value, ExchangeFailure>?
      await withCheckedContinuation { waiter in
        found = state.withLock { state in
          do throws(ExchangeFailure) {
            if let value = try read(&state) { return .success(value) }
            state.waiting.append(waiter)
            return nil
          } catch {
            return .failure(error)
          }
        }
        if found != nil { waiter.resume() }
      }
      if let found { return try found.get() }
    }
  }

  // MARK: - The request

  func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool {
    let writer = try await wait { state throws(ExchangeFailure) -> HTTPClient.Body.StreamWriter?? in
      if state.isRefused { return .some(nil) }
      if let end = state.end {
        try end.get()
        return .some(nil)
      }
      guard let writer = state.writer else { return nil }
      state.unsent += piece.count
      return writer
    }
    guard let writer else { return false }
    if !piece.isEmpty { _ = writer.write(.byteBuffer(ByteBuffer(bytes: piece))) }
    if isLast {
      state.withLock { state in
        defer { state.bodyEnd = nil }
        return state.bodyEnd
      }?.succeed()
    }
    return try await wait { state throws(ExchangeFailure) -> Bool? in
      if state.unsent == 0 { return true }
      if state.isRefused { return false }
      guard let end = state.end else { return nil }
      try end.get()
      return false
    }
  }

  // MARK: - The response

  func response() async throws(ExchangeFailure) -> APIResponse {
    try await wait { state throws(ExchangeFailure) -> APIResponse? in
      guard var response = state.response else {
        try state.end?.get()
        return nil
      }
      let tellsType = response.headers.contains { $0.name.lowercased() == "content-type" }
      guard tellsType || state.unread.readableBytes > 0 || state.end != nil else { return nil }
      response.body = Array(state.unread.readableBytesView.prefix(256))
      return response
    }
  }

  func read() async throws(ExchangeFailure) -> [UInt8]? {
    let (piece, demand) = try await wait {
      state throws(ExchangeFailure) -> ([UInt8]?, EventLoopPromise<Void>?)? in
      if let bytes = state.unread.readBytes(length: min(state.unread.readableBytes, APIRequest.pieceLimit)),
        !bytes.isEmpty
      {
        state.unread.discardReadBytes()
        defer { state.demand = nil }
        return (bytes, state.demand)
      }
      // The server may have closed the connection then, before it had the rest of the body.
      if state.isRefused, state.isEmpty { return (nil, nil) }
      guard let end = state.end else { return nil }
      try end.get()
      return (nil, nil)
    }
    demand?.succeed()
    return piece
  }
}

// MARK: - On the event loop of the request

extension HTTPExchange: HTTPClientResponseDelegate {
  func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
    let now = clock.now()
    change { state in
      state.unsent -= part.readableBytes
      state.lastMoved = now
    }
  }

  func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    let response = HTTPResponse(
      status: Int(head.status.code),
      headers: head.headers.map { APIRequest.Header(name: $0.name, value: $0.value.streamSafe) },
      receivedAt: clock.now())
    change { state in
      state.response = APIResponse(
        status: response.status, headers: response.headers, retryAfter: response.retryAfter, skew: response.skew)
      state.isEmpty = response.status == 204 || response.header("Content-Length") == "0"
      // By such a status the client sends no more of the body; and of such an answer it does not tell the end.
      state.isRefused = state.bodyEnd != nil && (response.status >= 300 || state.isEmpty)
      state.lastMoved = response.receivedAt
    }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
    let now = clock.now()
    let promise = task.eventLoop.makePromise(of: Void.self)
    var mayGoOn = true
    change { state in
      guard state.end == nil else { return }
      state.unread.writeImmutableBuffer(part)
      state.lastMoved = now
      mayGoOn = state.unread.readableBytes < APIRequest.pieceLimit
      if !mayGoOn { state.demand = promise }
    }
    if mayGoOn { promise.succeed() }
    return promise.futureResult
  }

  func didFinishRequest(task: HTTPClient.Task<Void>) {
    end(.success(()))
  }
}
