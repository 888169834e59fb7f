import HearthControl
package import HearthCore

/// Manages requests with streamed bodies. Each stream belongs to the connection that opened it and ends with that
/// connection.
package actor StreamService: RunningService {
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
    for stream in streams.values { await stream.fail(.stopping) }
    for stream in streams.values { await stream.close() }
    work.finish()
  }

  // MARK: - Calls

  /// Opens a stream and waits until it can be written or read. `upload` is `nil` for a request without a body.
  func open(
    _ draft: RequestDraft, _ upload: APIRequest.Upload?, on connection: ConnectionID
  ) async throws(RequestFailure) -> RequestStream {
    guard !isStopping else { throw .stopping }
    // An empty body need not be streamed.
    let (request, place) = try await requests.begin(draft, upload == .sized(0) ? nil : upload, for: connection)
    guard !isStopping else {
      requests.places.giveBack(place)
      throw .stopping
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

  func stream(_ id: String, of connection: ConnectionID) -> RequestStream? {
    streams[id].flatMap { $0.connection == connection ? $0 : nil }
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
  package func sessionChanged(_ account: AccountName, _ state: SessionState, _ subject: Subject?) async {
    for stream in streams.values where stream.account == account {
      switch state {
      case .locked, .unauthenticated: await stream.fail(.withheld(state))
      case .hydrating, .authenticated, .reauthRequired:
        if let subject, let other = await stream.subject, other != subject { await stream.fail(.otherUser) }
      }
    }
  }

  /// Ends streams that the new configuration does not allow.
  package func accountsChanged() async {
    for stream in streams.values {
      let (api, origin) = (requests.access[stream.account], await stream.origin)
      if api?.origins.contains(origin) != true {
        await stream.fail(api == nil ? .unknownAccount(stream.account) : .originNotAllowed(origin))
      }
    }
  }
}
