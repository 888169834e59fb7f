package import HearthControl
package import HearthCore

/// Handles the calls of clients. The handlers of each family of methods are in a `ControlService+….swift` file.
package struct ControlService: ControlHandler {
  let sessions: SessionDirectory
  let signIns: SignInService
  let revocations: RevocationService
  let sinks: SinkService
  let outbox: OutboxService
  let requests: RequestService
  let streams: StreamService
  let hub: EventHub
  let metrics: Metrics
  let clock: any Clock
  let info: @Sendable () async -> DaemonInfo
  let rules: @Sendable () async -> AccountRules
  let token: @Sendable (Secret) -> Token
  let reload: @Sendable () async throws -> Void
  /// Held while a page of items is read and encoded.
  let pages = AsyncMutex()

  /// Creates the handler. `info` returns the daemon's current state. `rules` returns the configured account rules.
  /// `token` adds the fingerprint to a secret. `reload` applies the configuration completely or not at all.
  package init(
    sessions: SessionDirectory, signIns: SignInService, revocations: RevocationService, sinks: SinkService,
    outbox: OutboxService, requests: RequestService, streams: StreamService, hub: EventHub, metrics: Metrics,
    clock: any Clock, info: @escaping @Sendable () async -> DaemonInfo,
    rules: @escaping @Sendable () async -> AccountRules = { AccountRules() },
    token: @escaping @Sendable (Secret) -> Token, reload: @escaping @Sendable () async throws -> Void
  ) {
    self.sessions = sessions
    self.signIns = signIns
    self.revocations = revocations
    self.sinks = sinks
    self.outbox = outbox
    self.requests = requests
    self.streams = streams
    self.hub = hub
    self.metrics = metrics
    self.clock = clock
    self.info = info
    self.rules = rules
    self.token = token
    self.reload = reload
  }

  private static let methods: [String: any ServedMethod.Type] = {
    let all =
      daemonMethods + sessionMethods + signInMethods + outboxMethods + requestMethods
    return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  }()

  /// The supported methods, by name.
  package static var served: [String: any ControlMethod.Type] { methods }

  /// The OpenRPC description of all methods.
  static let document = OpenRPCDocument(of: Array(methods.values))

  package func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse {
    let begun = metrics.begin()
    guard let method = Self.methods[request.method] else {
      let error = RPCError.methodNotFound(request.method)
      metrics.called(Metrics.unknownMethod, error: error, since: begun)
      return .failure(error)
    }
    do {
      let response = try await serve(method, request.params, for: peer)
      metrics.called(request.method, error: nil, since: begun)
      return response
    } catch {
      let error = (error as? Failure).map(RPCError.init) ?? error as? RPCError ?? .internalError("\(error)")
      metrics.called(request.method, error: error, since: begun)
      return .failure(error)
    }
  }

  package func resultAtOnce(of request: Request) -> JSON? {
    guard request.method == GetToken.name else { return nil }
    let begun = metrics.begin()
    guard let token = try? GetToken(params: request.params).readyToken(from: self) else { return nil }
    let result = token.json(at: clock.now())
    metrics.called(request.method, error: nil, since: begun)
    return result
  }

  private func serve<Method: ServedMethod>(
    _ method: Method.Type, _ params: JSONObject, for peer: any ControlPeer
  ) async throws -> ControlResponse {
    try await method.init(params: params).respond(from: self, for: peer)
  }

  /// Returns whether callers use the method only for its result. Returns true for unknown methods.
  package func isReadOnly(_ request: Request) -> Bool { Self.methods[request.method]?.isReadOnly ?? true }

  package func refused(_ request: Request?, _ error: RPCError) {
    let method = request.flatMap { Self.methods[$0.method] }?.name
    metrics.refused(method ?? Metrics.unknownMethod, error)
  }

  package func connectionOpened(_: ConnectionID) { metrics.connectionOpened() }

  package func connectionLost(_ connection: ConnectionID) {
    requests.places.clientLeft(connection)
    streams.connectionLost(connection)
  }

  package func connectionClosed(_ connection: ConnectionID) async {
    // End all streams again, because a call that was still queued may have opened one after the connection was lost.
    await streams.end(allOf: connection)
    requests.places.clientForgotten(connection)
    metrics.connectionClosed()
    hub.connectionClosed(connection)
  }

  // MARK: - Accounts

  func entry(_ account: AccountName) async throws -> SessionDirectory.Entry {
    guard let entry = await sessions[account] else { throw Failure.unknownAccount(account) }
    return entry
  }

  /// Throws an unknown-account error (1005) if the account is not configured. Does nothing if `account` is `nil`.
  func check(_ account: AccountName?) async throws {
    if let account { _ = try await entry(account) }
  }

  /// Returns the entry of the account, or of all accounts if `account` is `nil`.
  func entries(_ account: AccountName?) async throws -> [SessionDirectory.Entry] {
    if let account { [try await entry(account)] } else { await sessions.all }
  }

  func statuses(_ account: AccountName?) async throws -> Sessions {
    var statuses: [SessionStatus] = []
    for entry in try await entries(account) { statuses.append(await entry.service.snapshot()) }
    return Sessions(statuses)
  }
}

/// A method with its handler. The handler throws a `Failure` or an `RPCError`.
protocol ServedMethod: ControlMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws -> ControlResponse
}

/// A method that responds with nothing but its result.
protocol PlainMethod: ServedMethod {
  func result(from service: ControlService, for peer: any ControlPeer) async throws -> Result
}

extension PlainMethod {
  func respond(from service: ControlService, for peer: any ControlPeer) async throws -> ControlResponse {
    let result = try await result(from: service, for: peer)
    // Use the time at the end of the call, because the result contains relative times.
    return .result(result.json(at: service.clock.now()))
  }
}
