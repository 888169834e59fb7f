import HearthControl
package import HearthCore

/// Manages requests with streamed bodies. Each stream belongs to the connection that opened it and ends with that
/// connection.
package actor StreamService {
  private let requests: RequestService
  private let exchanges: any APIExchangeEndpoint
  private let clock: any Clock
  private var streams: [String: RequestStream] = [:]
  private var lastID = 0
  private var isStopping = false
  private let work = WorkInbox()

  package init(requests: RequestService, exchanges: any APIExchangeEndpoint, clock: any Clock) {
    (self.requests, self.exchanges, self.clock) = (requests, exchanges, clock)
  }

  package func run() async { await work.run() }

  package func stop() async {
    isStopping = true
    for stream in streams.values { await stream.fail(.shuttingDown) }
    for stream in streams.values { await stream.close() }
    work.finish()
  }

  // MARK: - Calls

  /// Opens a stream and waits until it can be written or read. `upload` is `nil` for a request without a body.
  func open(
    _ draft: RequestDraft, _ upload: APIRequest.Upload?, on connection: ConnectionID
  ) async throws -> RequestStream {
    guard !isStopping else { throw Failure.shuttingDown }
    // An empty body need not be streamed.
    let (request, place) = try await requests.begin(draft, upload == .sized(0) ? nil : upload, for: connection)
    guard !isStopping else {
      requests.places.giveBack(place)
      throw Failure.shuttingDown
    }
    lastID += 1
    let stream = RequestStream(
      "\(lastID)", request, of: draft.account, timeout: draft.timeout, on: connection, exchanges: exchanges,
      clock: clock)
    streams[stream.id] = stream
    work.add { await self.carryOut(stream, place) }
    try await stream.opened()
    return stream
  }

  private func carryOut(_ stream: RequestStream, _ place: Int) async {
    await stream.run(with: requests)
    streams[stream.id] = nil
    requests.places.giveBack(place)
  }

  /// Returns the connection's stream with this id. Throws -32602 if there is no such stream.
  func stream(_ id: String, of connection: ConnectionID) throws -> RequestStream {
    guard let stream = streams[id], stream.connection == connection else { throw RequestStream.unknown(id) }
    return stream
  }

  // MARK: - Ending streams

  /// Ends the streams of a client that has disconnected. Does not block.
  nonisolated func connectionLost(_ connection: ConnectionID) {
    work.add { await self.end(allOf: connection) }
  }

  func end(allOf connection: ConnectionID) async {
    for stream in streams.values where stream.connection == connection { await stream.close() }
  }

  /// Handles a change of the account's session. Ends all streams of a locked or signed-out account, or the streams of a
  /// user who was replaced, so that no more of their answers is returned.
  package func sessionChanged(_ status: SessionStatus) async {
    // Calls wait while the credential is being read, because it is unknown whether the session will continue.
    guard status.state != .hydrating else { return }
    for stream in streams.values where stream.account == status.account {
      if let failure = status.withholding(answerFor: await stream.subject) { await stream.fail(failure) }
    }
  }

  /// Ends streams that the new configuration does not allow.
  package func accountsChanged() async {
    for stream in streams.values {
      let (account, origin) = (stream.account, await stream.origin)
      if let refusal = Failure.refusing(origin, of: account, by: requests.access[account]) {
        await stream.fail(refusal)
      }
    }
  }
}
