import HearthCore
import NIOCore
import NIOHTTP1
import Synchronization

/// One request on its way to a server, and its response. It knows whether any part of it was written to a connection, so
/// that "not sent" is certain: nothing is sent of a request that has ended before.
///
/// Bodies that go in pieces are not held beyond `APIRequest.pieceLimit`: no more of the request's body is taken before the
/// network has it, and no more of the response's body is read before somebody asks for it.
final class HTTPExchange: APIExchange {
  /// How much of the response's body is read, in bytes, and for whom.
  enum Reading: Sendable {
    /// The caller of `answer` needs the whole response in time. What exceeds the limit is cut off.
    case whole(limit: Int)
    /// As `whole`, for a provider's answer. If the connection breaks off after the head, `HTTPResponse.breakOff` says so,
    /// and what was read is returned: it may be a whole JSON value all the same.
    case document(limit: Int)
    /// The caller of `answer` needs the status, and no more of the body is read, in bytes and in time, for reading on only
    /// keeps the connection for the next request. A response that breaks off is returned as far as it was read, and the
    /// time limit of the request begins anew as often as its own body moves.
    case beginning(limit: Int, time: Duration)
    /// The caller reads the body piece by piece.
    case pieces
  }

  /// What leaves for the server.
  struct Message: Sendable {
    let head: HTTPRequestHead
    /// The body comes through `write` if this is nil.
    let body: ByteBuffer?
  }

  private enum Phase {
    /// There is no connection yet, or this one is being made.
    case waiting((any Channel)?)
    case sent(HTTPConnection.Reference)
    case over
  }

  private struct State {
    var phase = Phase.waiting(nil)
    /// It has the token, and is dropped as soon as it has left or is not going to.
    var message: Message?
    /// The head has left, and the body may follow.
    var hasBegun = false
    /// More of the body is to come.
    var isUpload: Bool
    /// Bytes of the body that the network has not taken.
    var unsent = 0
    /// The answer has come before the end of the body, the rest of which is not sent: it is a refusal, or has no body.
    var isRefused = false

    /// The response without its body.
    var response: HTTPResponse?
    /// The response is complete, and only the request's body is still on its way.
    var isAnswered = false
    /// What was not read of the response's body.
    var unread = ByteBuffer()
    var isEmpty = false
    /// No more is read before somebody has taken what there is.
    var isFull = false

    var end: Result<Void, ExchangeFailure>?
    var lastMoved: Timestamp
    /// What ends the request if it takes too long.
    var timers: [ClockTimer] = []
    /// The tasks that wait until something of this has changed.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let reading: Reading
  private let isInPieces: Bool
  /// The request's body goes in pieces: its writer learns from the response that no more is wanted.
  let isUpload: Bool
  private let clock: any Clock
  private let explain: @Sendable (any Error, _ isBegun: Bool, _ wasSent: Bool) -> ExchangeFailure
  private let state: Mutex<State>

  /// `explain` says what an error means for the request, and is called once at most. `isBegun` tells that a part of the
  /// response may have been read.
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

  // MARK: - Its end

  /// Why the caller has given up.
  struct Cancelled: Error {
    let reason: String
  }

  /// The rest of the response's body is not wanted.
  private struct TooLong: Error {}

  func cancel(_ reason: String) { end(Cancelled(reason: reason)) }

  /// Ends the request unless it is over. After an error its connection is closed, so that nothing more is sent or read, and
  /// the server does not take what it has of the body for all of it.
  func end(_ error: (any Error)?) {
    var phase = Phase.over
    var timers: [ClockTimer] = []
    change { state in
      phase = state.phase
      let wasSent = if case .sent = phase { true } else { false }
      // The connection holds this exchange, and the message holds the token.
      (state.phase, state.message) = (.over, nil)
      swap(&timers, &state.timers)
      state.end = outcome(of: state.isAnswered ? nil : error, &state.response, wasSent: wasSent)
    }
    timers.forEach { $0.cancel() }
    guard error != nil else { return }
    switch phase {
    case .waiting(let channel): channel?.close(promise: nil)
    // It may be another request's by then.
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

  // MARK: - Limits of time

  /// Ends the request when this time has passed since it began or, if the beginning of its response is enough, since it
  /// last moved.
  func limit(to time: Duration) { limit(to: time, after: time) }

  private func limit(to time: Duration, after wait: Duration) {
    call(after: wait) { [self] in
      let left = state.withLock(\.lastMoved) + time - clock.steadyNow()
      if left > .zero { limit(to: time, after: left) } else { cancel("no answer within \(time)") }
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

  /// Changes nothing once the request is over.
  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.end == nil else { return [] }
      body(&state)
      // The caller of `answer` waits for the end alone.
      guard isInPieces || state.end != nil else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  /// Returns what `read` finds in the state as soon as that is something.
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
    let isWanted = try await wait { state throws(ExchangeFailure) -> Bool? in
      if state.isRefused { return false }
      if let end = state.end {
        try end.get()
        return false
      }
      guard state.hasBegun else { return nil }
      state.unsent += piece.count
      if isLast { state.isUpload = false }
      return true
    }
    guard isWanted else { return false }
    onConnection { $0.write(ByteBuffer(bytes: piece), isLast: isLast, of: self) }
    return try await wait { state throws(ExchangeFailure) -> Bool? in
      if state.unsent == 0 { return true }
      if state.isRefused { return false }
      guard let end = state.end else { return nil }
      try end.get()
      return false
    }
  }

  private func onConnection(_ action: @escaping @Sendable (HTTPConnection) -> Void) {
    guard case .sent(let connection) = state.withLock(\.phase) else { return }
    connection.onLoop(action)
  }

  // MARK: - The response

  /// Returns the response as one. A caller that is cancelled is answered at once.
  func answer() async throws(ExchangeFailure) -> HTTPResponse {
    await withTaskCancellationHandler {
      _ = try? await wait { state in state.end.map { _ in true } }
    } onCancel: {
      cancel("cancelled")
    }
    return try await wait { state throws(ExchangeFailure) -> HTTPResponse? in
      try state.end?.get()
      state.response?.body = Array(state.unread.readableBytesView)
      return state.response
    }
  }

  func response() async throws(ExchangeFailure) -> APIResponse {
    try await wait { state throws(ExchangeFailure) -> APIResponse? in
      guard var response = state.response else {
        try state.end?.get()
        return nil
      }
      guard response.header("Content-Type") != nil || state.unread.readableBytes > 0 || state.end != nil else {
        return nil
      }
      response.body = Array(state.unread.readableBytesView.prefix(256))
      return APIResponse(response)
    }
  }

  func read() async throws(ExchangeFailure) -> [UInt8]? {
    let (piece, wasFull) = try await wait { state throws(ExchangeFailure) -> ([UInt8]?, Bool)? in
      if let bytes = state.unread.readBytes(length: min(state.unread.readableBytes, APIRequest.pieceLimit)),
        !bytes.isEmpty
      {
        state.unread.discardReadBytes()
        defer { state.isFull = false }
        return (bytes, state.isFull)
      }
      // The server may have closed the connection then, before it had the rest of the body.
      if state.isRefused, state.isEmpty { return (nil, false) }
      guard let end = state.end else { return nil }
      try end.get()
      return (nil, false)
    }
    if wasFull { onConnection { $0.readOn() } }
    return piece
  }
}

// MARK: - From the pool and the connection

extension HTTPExchange {
  /// Notes the connection that is being made for the request. Returns false if the request is over.
  func waits(for channel: any Channel) -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .waiting(channel)
      return true
    }
  }

  /// Returns what has to leave now, or nil if the request is over.
  func leaves(on connection: HTTPConnection.Reference) -> Message? {
    state.withLock { state in
      guard case .waiting = state.phase else { return nil }
      state.phase = .sent(connection)
      return state.message.take()
    }
  }

  /// The head has left: a body that goes in pieces may follow.
  func began() { change { $0.hasBegun = true } }

  /// The network has taken so many more bytes of the body.
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

  /// Returns whether nothing more of the request's body is wanted.
  func received(_ head: HTTPResponseHead) -> Bool {
    var isRefusal = head.status.code >= 300
    change { state in
      // Whoever looks at the clock later finds the head.
      let response = HTTPResponse(
        status: Int(head.status.code),
        headers: head.headers.map { APIRequest.Header(name: $0.name, value: $0.value.fieldValue) },
        receivedAt: clock.now())
      state.response = response
      state.isEmpty = response.status == 204 || response.header("Content-Length") == "0"
      // With such a status no more of the body is sent.
      state.isRefused = state.isUpload && (isRefusal || state.isEmpty)
      isRefusal = isRefusal || state.isRefused
      if isInPieces { state.lastMoved = response.receivedAt }
    }
    return isRefusal
  }

  /// The response is complete, and the request's body follows: whatever becomes of that, the server has answered.
  func answered() { state.withLock { $0.isAnswered = true } }

  /// The request has left, and its response has begun: little more time is given to that.
  func limitResponse() {
    if case .beginning(_, let time) = reading { call(after: time) { self.cancel("no answer within \(time)") } }
  }

  /// Returns false if no more is to be read before `HTTPConnection.readOn()`. What is too long ends the request if it
  /// `mayEnd`, and is dropped while the request's own body is on its way.
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
