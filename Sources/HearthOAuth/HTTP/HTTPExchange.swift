import HearthCore
import NIOCore
import NIOHTTP1
import Synchronization

/// One request to a server and its response. Records whether any part of the request was written to a connection, so
/// that the error "not sent" is reliable. A request that ends while it waits for a connection is never sent.
///
/// Bodies in pieces need little memory: the writer waits until the kernel has accepted each piece, and reading pauses
/// while at least `APIRequest.pieceLimit` bytes of the response are unread.
final class HTTPExchange: APIExchange {
  /// How much of the response's body to read, and who reads it.
  enum Reading: Sendable {
    /// The caller of `answer` needs the whole response before the timeout. The body is truncated at `limit` bytes.
    case whole(limit: Int)
    /// Like `whole`, for a provider's response. If the connection breaks after the head, `answer` returns the body so
    /// far, which may be a complete JSON value, and `HTTPResponse.breakOff` contains the error.
    case document(limit: Int)
    /// The caller of `answer` needs only the status. The body is read within these limits so that the connection can be
    /// reused. If the connection breaks after the head, `answer` returns the body so far. The request's timeout
    /// restarts whenever the request's body makes progress.
    case beginning(limit: Int, time: Duration)
    /// The caller reads the body in pieces.
    case pieces
  }

  struct Message: Sendable {
    let head: HTTPRequestHead
    /// The body, or `nil` if the caller sends it with `write`.
    let body: ByteBuffer?
  }

  private enum Phase {
    /// The request waits for a connection. The channel, if any, is being connected for the request.
    case waiting((any Channel)?)
    case sent(HTTPConnection.Reference)
    case over
  }

  private struct State {
    var phase = Phase.waiting(nil)
    /// The request, which contains the token. `nil` once the request has been sent or can no longer be sent.
    var message: Message?
    /// Whether the head was sent. The caller can send the body only after the head.
    var hasBegun = false
    /// Whether the caller will write more of the body.
    var isUpload: Bool
    /// The number of bytes of the body that the kernel has not accepted yet.
    var unsent = 0
    /// Whether to stop sending the request's body, because the server has refused the request or has sent a response
    /// without a body.
    var isRefused = false

    /// The response without its body.
    var response: HTTPResponse?
    /// Whether the response is complete but the request's body is still being sent.
    var isAnswered = false
    /// The part of the response's body that the caller has not read yet.
    var unread = ByteBuffer()
    var isEmpty = false
    /// Whether reading has stopped until the caller reads the buffered bytes.
    var isFull = false

    var end: Result<Void, ExchangeFailure>?
    var lastMoved: Timestamp
    /// Timers that end the request if it takes too long.
    var timers: [ClockTimer] = []
    /// Tasks that wait for this state to change.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let reading: Reading
  private let isInPieces: Bool
  /// Whether the caller sends the request's body in pieces.
  let isUpload: Bool
  private let clock: any Clock
  private let explain: @Sendable (any Error, _ isBegun: Bool, _ wasSent: Bool) -> ExchangeFailure
  private let state: Mutex<State>

  /// `explain` converts an error into the failure to report, and is called at most once. `isBegun` is true if the
  /// caller may have read part of the response.
  init(
    _ message: Message, reading: Reading, clock: any Clock,
    explain: @escaping @Sendable (any Error, _ isBegun: Bool, _ wasSent: Bool) -> ExchangeFailure
  ) {
    (self.reading, self.clock, self.explain) = (reading, clock, explain)
    isInPieces = if case .pieces = reading { true } else { false }
    isUpload = message.body == nil
    let now = isInPieces ? clock.now() : clock.steadyNow()
    state = Mutex(State(message: message, isUpload: isUpload, lastMoved: now))
  }

  // MARK: - Ending the request

  /// Hearth has cancelled the request, perhaps because of a limit. `reason` is shown in the error message.
  struct Cancelled: Error {
    let reason: String
  }

  /// The response's body exceeds the limit, and the rest is not needed.
  private struct TooLong: Error {}

  func cancel(_ reason: String) { end(Cancelled(reason: reason)) }

  /// Ends the request unless it has already ended. After an error, closes the connection so that nothing more is sent
  /// or read and the server does not mistake a partial body for a complete one.
  func end(_ error: (any Error)?) {
    var phase = Phase.over
    var timers: [ClockTimer] = []
    change { state in
      phase = state.phase
      let wasSent = if case .sent = phase { true } else { false }
      // Releases the connection, which retains this exchange, and the message, which contains the token.
      (state.phase, state.message) = (.over, nil)
      swap(&timers, &state.timers)
      state.end = outcome(of: state.isAnswered ? nil : error, &state.response, wasSent: wasSent)
    }
    timers.forEach { $0.cancel() }
    guard error != nil else { return }
    switch phase {
    case .waiting(let channel): channel?.close(promise: nil)
    // The connection may already carry another request, so `abandon` compares the exchange first.
    case .sent(let connection): connection.onLoop { $0.abandon(self) }
    case .over: break
    }
  }

  private func outcome(
    of error: (any Error)?, _ response: inout HTTPResponse?, wasSent: Bool
  ) -> Result<Void, ExchangeFailure> {
    guard let error else { return .success(()) }
    let isEnough =
      switch reading {
      case .whole: error is TooLong
      case .document, .beginning: true
      case .pieces: false
      }
    let mayBeRead = if case .whole = reading { false } else { response != nil }
    guard isEnough, response != nil else { return .failure(explain(error, mayBeRead, wasSent)) }
    if case .document = reading, !(error is TooLong) {
      response?.breakOff = explain(error, true, wasSent)
    } else {
      response?.isTruncated = true
    }
    return .success(())
  }

  // MARK: - Time limits

  /// Cancels the request after `time`, measured from its start or, if only the beginning of the response is needed,
  /// from the last progress of the request's body.
  func limit(to time: Duration) { limit(to: time, after: time) }

  private func limit(to time: Duration, after wait: Duration) {
    call(after: wait) { [self] in
      let left = state.withLock(\.lastMoved) + time - clock.steadyNow()
      if left > .zero { limit(to: time, after: left) } else { cancel("no response within \(time)") }
    }
  }

  private func call(after wait: Duration, _ action: @escaping @Sendable () -> Void) {
    if state.withLock({ $0.end != nil }) { return }
    let timer = clock.timer(at: clock.now() + wait, action)
    let isOver = state.withLock { state in
      if state.end == nil { state.timers.append(timer) }
      return state.end != nil
    }
    if isOver { timer.cancel() }
  }

  var lastMoved: Timestamp { state.withLock(\.lastMoved) }

  // MARK: - Waiting

  /// Changes the state unless the request has ended.
  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.end == nil else { return [] }
      body(&state)
      // Unless the response is read in pieces, the only waiter is `answer`, which waits only for the end of the
      // request.
      guard isInPieces || state.end != nil else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  /// Waits until `read` returns a result, and returns its value or throws its failure.
  private func wait<Value: Sendable>(
    for read: (inout State) -> Result<Value, ExchangeFailure>?
  ) async throws(ExchangeFailure) -> Value {
    while true {
      var found: Result<Value, ExchangeFailure>?
      await withCheckedContinuation { waiter in
        found = state.withLock { state in
          let result = read(&state)
          if result == nil { state.waiting.append(waiter) }
          return result
        }
        if found != nil { waiter.resume() }
      }
      if let found { return try found.get() }
    }
  }

  // MARK: - The request

  func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool {
    let isWanted = try await wait { state in
      if state.isRefused { return .success(false) }
      if let end = state.end { return end.map { false } }
      guard state.hasBegun else { return nil }
      state.unsent += piece.count
      if isLast { state.isUpload = false }
      return .success(true)
    }
    guard isWanted else { return false }
    onConnection { $0.write(ByteBuffer(bytes: piece), isLast: isLast, of: self) }
    return try await wait { state in
      if state.unsent == 0 { return .success(true) }
      if state.isRefused { return .success(false) }
      return state.end?.map { false }
    }
  }

  private func onConnection(_ action: @escaping @Sendable (HTTPConnection) -> Void) {
    guard case .sent(let connection) = state.withLock(\.phase) else { return }
    connection.onLoop(action)
  }

  // MARK: - The response

  /// Waits for the request to end and returns the response. If the calling task is cancelled, cancels the request.
  func answer() async throws(ExchangeFailure) -> HTTPResponse {
    await withTaskCancellationHandler {
      try? await wait { state in state.end }
    } onCancel: {
      cancel("cancelled")
    }
    return try await wait { state in
      if case .failure(let failure) = state.end { return .failure(failure) }
      state.response?.body = Array(state.unread.readableBytesView)
      return state.response.map { .success($0) }
    }
  }

  func response() async throws(ExchangeFailure) -> APIResponse {
    try await wait { state in
      guard var response = state.response else {
        if case .failure(let failure) = state.end { return .failure(failure) }
        return nil
      }
      guard response.header("Content-Type") != nil || state.unread.readableBytes > 0 || state.end != nil else {
        return nil
      }
      response.body = Array(state.unread.readableBytesView.prefix(256))
      return .success(APIResponse(response))
    }
  }

  func read() async throws(ExchangeFailure) -> [UInt8]? {
    let (piece, wasFull): ([UInt8]?, Bool) = try await wait { state in
      if let bytes = state.unread.readBytes(length: min(state.unread.readableBytes, APIRequest.pieceLimit)),
        !bytes.isEmpty
      {
        state.unread.discardReadBytes()
        defer { state.isFull = false }
        return .success((bytes, state.isFull))
      }
      // The empty response is complete. Waiting for the exchange to end could fail, because the server may have closed
      // the connection before it received the rest of the request's body.
      if state.isRefused, state.isEmpty { return .success((nil, false)) }
      return state.end?.map { (nil, false) }
    }
    if wasFull { onConnection { $0.readOn() } }
    return piece
  }
}

// MARK: - From the pool and the connection

extension HTTPExchange {
  /// Records the channel that is being connected for the request. Returns false if the request has ended.
  func waits(for channel: any Channel) -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .waiting(channel)
      return true
    }
  }

  /// Assigns the request to the connection and returns the message to send, or `nil` if the request has ended.
  func leaves(on connection: HTTPConnection.Reference) -> Message? {
    state.withLock { state in
      guard case .waiting = state.phase else { return nil }
      state.phase = .sent(connection)
      return state.message.take()
    }
  }

  /// Records that the head was sent, so that body pieces can follow.
  func began() { change { $0.hasBegun = true } }

  /// Records that the kernel has accepted `count` more bytes of the body.
  func sent(_ count: Int) {
    let now: Timestamp? =
      switch reading {
      case .whole, .document: nil
      case .beginning: clock.steadyNow()
      case .pieces: clock.now()
      }
    change { state in
      state.unsent -= count
      if let now { state.lastMoved = now }
    }
  }

  /// Records the response's head. Returns whether the server wants no more of the request's body.
  func received(_ head: HTTPResponseHead) -> Bool {
    var isRefusal = head.status.code >= 300
    change { state in
      // Reads the clock inside the lock, so that anyone who reads the clock later also sees the head.
      let response = HTTPResponse(
        status: Int(head.status.code),
        headers: head.headers.map { APIRequest.Header(name: $0.name, value: $0.value.fieldValue) },
        receivedAt: clock.now())
      state.response = response
      state.isEmpty = response.status == 204 || response.header("Content-Length") == "0"
      // After a refusal, the rest of the request's body is not sent. An empty response also ends a body that is sent in
      // pieces.
      state.isRefused = state.isUpload && (isRefusal || state.isEmpty)
      isRefusal = isRefusal || state.isRefused
      if isInPieces { state.lastMoved = response.receivedAt }
    }
    return isRefusal
  }

  /// Records that the response is complete while the request's body is still being sent. The request then counts as
  /// answered, even if the upload fails.
  func answered() { state.withLock { $0.isAnswered = true } }

  /// Limits the time for the rest of the response if only its beginning is needed. Called once the response's head has
  /// arrived and the request's body is no longer being sent.
  func limitResponse() {
    if case .beginning(_, let time) = reading { call(after: time) { self.cancel("no response within \(time)") } }
  }

  /// Records a piece of the response's body. Returns false to pause reading until `HTTPConnection.readOn()`. A body
  /// beyond the limit ends the request if `mayEnd` is true. Otherwise the excess is dropped, because the request's body
  /// is still being sent.
  func received(_ piece: ByteBuffer, mayEnd: Bool) -> Bool {
    switch reading {
    case .whole(let limit), .document(let limit), .beginning(let limit, _):
      let isTooLong = state.withLock { state in
        guard state.end == nil else { return true }
        let room = min(limit - state.unread.readableBytes, piece.readableBytes)
        state.unread.writeBytes(piece.readableBytesView.prefix(room))
        if room < piece.readableBytes { state.response?.isTruncated = true }
        return room < piece.readableBytes
      }
      if isTooLong, mayEnd { end(TooLong()) }
      return !(isTooLong && mayEnd)
    case .pieces:
      let now = clock.now()
      var mayGoOn = true
      change { state in
        state.unread.writeImmutableBuffer(piece)
        state.lastMoved = now
        mayGoOn = state.unread.readableBytes < APIRequest.pieceLimit
        state.isFull = !mayGoOn
      }
      return mayGoOn
    }
  }
}
