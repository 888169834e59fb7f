import HearthControl
import HearthCore

/// One request with streamed bodies, from its opening until its answer has been read or its client has gone. One call
/// may write and another read at the same time.
///
/// An exchange takes the body only once its first piece is there, so that Hearth can ask for the body again: after a
/// 401, or a redirect that keeps the body.
actor RequestStream {
  /// How long a client may leave a stream unused.
  static let idleTime: Duration = .seconds(300)

  /// The result of a client's read.
  enum Reading {
    case head(APIResponse, HTTPURL)
    case piece([UInt8])
    /// The client must write the body again from its beginning.
    case rewind
    case end
  }

  private enum Phase {
    /// Waiting for the token or the connection.
    case preparing
    /// Ready to send the request: waiting for the client's first piece.
    case awaitingBody
    case exchanging(any APIExchange)
    /// The API's response, which the client may read.
    case answered(APIResponse, any APIExchange)
    /// Failed; the next call receives the failure.
    case failed(RequestFailure)
    /// Ended, with the reason if it failed.
    case over(RequestFailure?)
  }

  nonisolated let account: AccountName
  nonisolated let connection: ConnectionID
  nonisolated let id: String
  private let original: APIRequest
  private let timeout: Duration
  private let exchanges: any APIExchangeEndpoint
  private let clock: any Clock

  private var phase = Phase.preparing
  /// The tasks that wait for another phase.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// The number of exchanges that have begun.
  private var attempt = 0
  private(set) var subject: Subject?
  private var url: HTTPURL
  /// The body of the request in its current form.
  private var upload: APIRequest.Upload?
  /// How many bytes of the body the API has taken; `nil` once it has taken all.
  private var taken: Int? = 0
  private var owesRewind = false
  private var isHeadGiven = false
  private var isWriting = false
  private(set) var isReading = false
  private var lastCall: Timestamp

  /// `timeout` is how long the API may go without any progress.
  init(
    _ id: String, _ request: APIRequest, of account: AccountName, timeout: Duration, on connection: ConnectionID,
    exchanges: any APIExchangeEndpoint, clock: any Clock
  ) {
    (self.id, self.account, self.connection, original) = (id, account, connection, request)
    (self.timeout, self.exchanges, self.clock) = (timeout, exchanges, clock)
    (url, upload, lastCall) = (request.url, request.upload, clock.now())
  }

  var origin: Origin { url.origin }

  private var isOpen: Bool {
    switch phase {
    case .preparing, .awaitingBody, .exchanging, .answered: true
    case .failed, .over: false
    }
  }

  private var isAwaitingBody: Bool { if case .awaitingBody = phase { true } else { false } }

  private func enter(_ next: Phase) {
    phase = next
    let woken = waiting
    waiting = []
    for waiter in woken { waiter.resume() }
  }

  /// Returns when the phase has changed.
  private func change() async { await withCheckedContinuation { waiting.append($0) } }

  // MARK: - From the beginning to the end

  /// Runs the stream. Returns when it is over.
  func run(with requests: RequestService) async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await self.watch() }
      tasks.addTask { await self.converse(with: requests) }
      while true {
        if case .over = phase { break }
        await change()
      }
      tasks.cancelAll()
    }
  }

  /// Returns when the client can write the body or read the answer.
  func opened() async throws(RequestFailure) {
    while case .preparing = phase { await change() }
    if !isOpen { try tellEnd() }
  }

  private func converse(with requests: RequestService) async {
    do throws(RequestFailure) {
      let response = try await requests.converse(original, of: account) {
        @Sendable (request, bearer) async throws(ExchangeFailure) in
        try await self.send(request, bearer)
      }
      if case .exchanging(let exchange) = phase { enter(.answered(response, exchange)) }
    } catch {
      fail(error)
    }
  }

  /// Sends the request once, and returns the head of the response.
  private func send(_ request: APIRequest, _ bearer: Bearer) async throws(ExchangeFailure) -> APIResponse {
    if case .exchanging(let former) = phase { former.cancel("its answer is not wanted") }
    (subject, url, upload) = (bearer.subject ?? subject, request.url, request.upload)
    if upload != nil, isOpen {
      owesRewind = taken != 0
      taken = 0
      enter(.awaitingBody)
      while isAwaitingBody { await change() }
    }
    let exchange = isOpen ? try await exchanges.begin(request, of: account, bearer: bearer.token) : nil
    guard let exchange, isOpen else {
      exchange?.cancel("nobody waits for the answer")
      throw .notSent(message: "The stream was closed")
    }
    attempt += 1
    enter(.exchanging(exchange))
    return try await exchange.response()
  }

  /// Ends the stream with a failure, which the waiting calls or the next call receive.
  func fail(_ failure: RequestFailure) {
    guard isOpen else { return }
    release()
    enter(.failed(failure))
  }

  /// Ends the stream and cancels what is not complete. Only calls that already wait receive a failure.
  func close() {
    release()
    switch phase {
    case .failed(let failure): enter(.over(failure))
    case .preparing, .awaitingBody, .exchanging, .answered: enter(.over(nil))
    case .over: break
    }
  }

  private func release() {
    switch phase {
    case .exchanging(let exchange), .answered(_, let exchange): exchange.cancel("nobody waits for the answer")
    case .preparing, .awaitingBody, .failed, .over: break
    }
  }

  /// Throws the reason for the end to a call on a stream that is no longer open.
  private func tellEnd() throws(RequestFailure) {
    close()
    if case .over(let failure) = phase {
      throw failure ?? .invalidRequest(Self.unknown(id))
    }
  }

  // MARK: - Time

  private func watch() async {
    while !Task.isCancelled, let time = look() { await clock.sleep(until: time) }
  }

  /// Ends what has taken too long. Returns when to look again; no timeout of the API ends before that.
  private func look() -> Timestamp? {
    let now = clock.now()
    let isLate: (Timestamp, Duration) -> Bool = { $0 + $1 <= now }
    switch phase {
    case .over: return nil
    case .preparing: break
    case .exchanging(let exchange), .answered(_, let exchange):
      let last = max(lastCall, exchange.lastMoved)
      guard waitsForAPI else { return lookAtClient(since: last, now) }
      guard !isLate(last, timeout) else {
        exchange.cancel("\(lateness) within \(timeout)")
        break
      }
      return last + timeout
    case .awaitingBody, .failed: return lookAtClient(since: lastCall, now)
    }
    return now + timeout
  }

  private func lookAtClient(since last: Timestamp, _ now: Timestamp) -> Timestamp? {
    guard last + Self.idleTime > now else {
      close()
      return nil
    }
    return min(last + Self.idleTime, now + timeout)
  }

  private var waitsForAPI: Bool {
    if isWriting { return true }
    if case .answered = phase { return isReading }
    return isReading && (upload == nil || taken == nil)
  }

  private var lateness: String {
    if case .answered = phase { return "no more of the answer came" }
    return isWriting ? "nothing of the body was taken" : "no answer"
  }
}

// MARK: - Calls

extension RequestStream {
  /// Sends a piece of the body. Returns where the next one begins, once the network has taken this one: 0 if the body
  /// must be sent again, `nil` if nothing more is wanted. `isLast` ends a body of unknown length.
  func write(_ piece: [UInt8], at offset: Int, isLast: Bool) async throws(RequestFailure) -> Int? {
    guard !isWriting else { throw .invalidRequest("stream: another piece of the body is being written") }
    (isWriting, lastCall) = (true, clock.now())
    defer { (isWriting, lastCall) = (false, clock.now()) }
    let isLast = try check(piece, at: offset, isLast: isLast)
    var refusals = 0
    while true {
      switch phase {
      case .preparing: await change()
      case .awaitingBody:
        guard offset == 0 else {
          owesRewind = false
          return 0
        }
        enter(.preparing)
      case .exchanging(let exchange), .answered(_, let exchange):
        guard upload != nil, let taken else { return nil }
        guard offset == taken else { return taken }
        if refusals < attempt {
          refusals = attempt
          if (try? await exchange.write(piece, isLast: isLast)) == true {
            let next = isLast ? nil : offset + piece.count
            // If the body must be sent again by now, the next call says so.
            if refusals == attempt, !isAwaitingBody { self.taken = next }
            return next
          }
        } else if case .answered = phase {
          return nil
        } else {
          await change()
        }
      case .failed, .over: try tellEnd()
      }
    }
  }

  /// Checks a piece. Returns true if it is the last one.
  private func check(_ piece: [UInt8], at offset: Int, isLast: Bool) throws(RequestFailure) -> Bool {
    guard piece.count <= APIRequest.pieceLimit else {
      throw .invalidRequest("data: a piece has at most \(APIRequest.pieceLimit) bytes")
    }
    switch original.upload {
    case nil: throw .invalidRequest("stream: the request was opened without a body")
    case .chunked: return isLast
    case .sized(let count):
      guard offset <= count, piece.count <= count - offset else {
        throw .invalidRequest("data: the body is longer than the \(count) bytes that it was opened with")
      }
      guard !isLast || offset + piece.count == count else {
        throw .invalidRequest("end: the body is shorter than the \(count) bytes that it was opened with")
      }
      return offset + piece.count == count
    }
  }

  /// Returns the next part of the answer, or waits for it: first the head, then the body.
  func read() async throws(RequestFailure) -> Reading {
    guard !isReading else { throw .invalidRequest("stream: another call reads the answer") }
    (isReading, lastCall) = (true, clock.now())
    defer { (isReading, lastCall) = (false, clock.now()) }
    while true {
      switch phase {
      case .awaitingBody where owesRewind:
        owesRewind = false
        return .rewind
      case .preparing, .awaitingBody, .exchanging: await change()
      case .answered(let response, _) where !isHeadGiven:
        isHeadGiven = true
        return .head(response, url)
      case .answered(_, let exchange):
        let piece: [UInt8]?
        do throws(ExchangeFailure) {
          piece = try await exchange.read()
        } catch {
          fail(RequestMachine.brokenOff(error))
          continue
        }
        guard isOpen else { continue }
        if let piece { return .piece(piece) }
        close()
        return .end
      case .failed, .over: try tellEnd()
      }
    }
  }

  static func unknown(_ id: String) -> String { "stream: there is no stream \(id.quotedName) on this connection" }
}
