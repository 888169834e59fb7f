import HearthControl
import HearthCore

/// A request with streamed bodies. It ends once its answer has been read, or when its client disconnects. One call can
/// write while another reads.
///
/// Hearth does not store the body. After a 401, or after a redirect that preserves the body, Hearth asks the client to
/// send the body again. An exchange with a body starts only after the first piece has arrived.
actor RequestStream {
  /// The maximum time for which a client may leave a stream idle.
  static let idleTime: Duration = .seconds(300)

  private enum Phase {
    /// The stream waits for the token or the connection.
    case preparing
    /// The request is ready to be sent. The stream waits for the client's first piece.
    case awaitingBody
    case exchanging(any APIExchange)
    /// The API has answered. The client can read the response.
    case answered(APIResponse, any APIExchange)
    /// The stream failed. The next call throws the failure.
    case failed(Failure)
    /// The stream has ended. The failure is `nil` if the stream did not fail.
    case over(Failure?)
  }

  nonisolated let account: AccountName
  nonisolated let connection: ConnectionID
  nonisolated let id: String
  private let original: APIRequest
  private let timeout: Duration
  private let exchanges: any APIExchangeEndpoint
  private let clock: any Clock

  private var phase = Phase.preparing
  /// Tasks that wait for a change of the phase.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var attempt = 0
  private(set) var subject: Subject?
  private var url: HTTPURL
  /// The body to send with the current request, or `nil` if it has none, for example after a redirect.
  private var upload: APIRequest.Upload?
  /// The number of bytes of the body that the network has accepted, or `nil` once it has accepted all of them.
  private var taken: Int? = 0
  private var owesRewind = false
  private var isHeadGiven = false
  private var isWriting = false
  private(set) var isReading = false
  private var lastCall: Timestamp

  /// Creates a stream. `timeout` is the maximum time without any progress by the API.
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
    waiting.resumeAll()
  }

  private func change() async { await withCheckedContinuation { waiting.append($0) } }

  // MARK: - Lifetime

  /// Runs the stream until it is over.
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

  /// Returns once the client can write the body or read the answer.
  func opened() async throws {
    while case .preparing = phase { await change() }
    if !isOpen { try tellEnd() }
  }

  private func converse(with requests: RequestService) async {
    do {
      let response = try await requests.converse(original, of: account, send: send)
      if case .exchanging(let exchange) = phase { enter(.answered(response, exchange)) }
    } catch {
      fail(error)
    }
  }

  /// Sends the request once and returns the head of the response.
  private func send(_ request: APIRequest, _ bearer: Bearer) async throws(ExchangeFailure) -> APIResponse {
    if case .exchanging(let former) = phase { former.cancel("its response is no longer needed") }
    (subject, url, upload) = (bearer.subject ?? subject, request.url, request.upload)
    if upload != nil, isOpen {
      owesRewind = taken != 0
      taken = 0
      enter(.awaitingBody)
      while isAwaitingBody { await change() }
    }
    let exchange = isOpen ? try await exchanges.begin(request, of: account, bearer: bearer.token) : nil
    guard let exchange, isOpen else {
      exchange?.cancel("nobody is waiting for the response")
      throw .notSent(message: "The stream was closed")
    }
    attempt += 1
    enter(.exchanging(exchange))
    return try await exchange.response()
  }

  /// Ends the stream. Waiting calls, or else the next call, will throw `failure`.
  func fail(_ failure: Failure) {
    guard isOpen else { return }
    release()
    enter(.failed(failure))
  }

  /// Ends the stream and cancels an incomplete exchange. Calls that are already waiting throw.
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
    case .exchanging(let exchange), .answered(_, let exchange): exchange.cancel("nobody is waiting for the response")
    case .preparing, .awaitingBody, .failed, .over: break
    }
  }

  /// Throws the failure that ended the stream, or an error that says that the stream has ended.
  private func tellEnd() throws {
    close()
    if case .over(let failure) = phase {
      throw failure ?? Self.unknown(id)
    }
  }

  // MARK: - Time

  private func watch() async {
    while !Task.isCancelled, let time = look() { await clock.sleep(until: time) }
  }

  /// Ends the stream if the API or the client has been idle for too long. Returns the time of the next check, or `nil`
  /// if the stream is over.
  private func look() -> Timestamp? {
    let now = clock.now()
    switch phase {
    case .over: return nil
    case .preparing: break
    case .exchanging(let exchange), .answered(_, let exchange):
      let last = max(lastCall, exchange.lastMoved)
      guard waitsForAPI else { return lookAtClient(since: last, now) }
      guard last + timeout > now else {
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
    if case .answered = phase { return "the rest of the response did not arrive" }
    return isWriting ? "the API did not read the body" : "no response"
  }
}

// MARK: - Calls

extension RequestStream {
  /// Sends a piece of the body and waits until the network has accepted it. Returns the offset of the next piece: 0 if
  /// the body must be sent again, or `nil` if no more pieces are needed. `isLast` ends a body of unknown length.
  func write(_ piece: [UInt8], at offset: Int, isLast: Bool) async throws -> Int? {
    guard !isWriting else { throw Failure.invalidParams("stream is busy: another call is writing a piece of the body") }
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
            // Leave `taken` unchanged if the body must be sent again. The next call then reports that.
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

  /// Checks a piece. Returns whether it is the last piece.
  private func check(_ piece: [UInt8], at offset: Int, isLast: Bool) throws -> Bool {
    guard piece.count <= APIRequest.pieceLimit else {
      throw Failure.invalidParams("data must not be longer than \(APIRequest.pieceLimit) bytes")
    }
    switch original.upload {
    case nil: throw Failure.invalidParams("stream was opened without a body")
    case .chunked: return isLast
    case .sized(let count):
      guard offset <= count, piece.count <= count - offset else {
        throw Failure.invalidParams(
          "data exceeds the \(count) bytes that were announced when the stream was opened")
      }
      guard !isLast || offset + piece.count == count else {
        throw Failure.invalidParams(
          "end cannot be true yet, because the body is shorter than the \(count) bytes that were announced")
      }
      return offset + piece.count == count
    }
  }

  /// Waits for the next part of the answer and returns it. The first part is the head.
  func read() async throws -> ReadPiece {
    guard !isReading else { throw Failure.invalidParams("stream is busy: another call is reading the response") }
    (isReading, lastCall) = (true, clock.now())
    defer { (isReading, lastCall) = (false, clock.now()) }
    while true {
      switch phase {
      case .awaitingBody where owesRewind:
        owesRewind = false
        return ReadPiece(next: 0)
      case .preparing, .awaitingBody, .exchanging: await change()
      case .answered(let response, _) where !isHeadGiven:
        isHeadGiven = true
        return ReadPiece(status: response.status, headers: response.headers, url: url.description)
      case .answered(_, let exchange):
        let piece: [UInt8]?
        do {
          piece = try await exchange.read()
        } catch {
          let rest = "Only part of the response was received."
          fail(Failure(.requestFailed, "\(error.message). \(rest)", account: account))
          continue
        }
        guard isOpen else { continue }
        if let piece { return ReadPiece(data: piece) }
        close()
        return ReadPiece(isEnd: true)
      case .failed, .over: try tellEnd()
      }
    }
  }

  static func unknown(_ id: String) -> Failure {
    .invalidParams("stream is unknown: there is no stream \(id.quotedName) on this connection")
  }
}
