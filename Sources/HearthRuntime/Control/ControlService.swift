package import HearthControl
package import HearthCore

/// Answers the calls of clients: reads their parameters, asks the services, words the result.
package struct ControlService: ControlHandler {
  let sessions: SessionDirectory
  let outbox: OutboxService
  let hub: EventHub
  let clock: any Clock
  let facts: DaemonFacts
  let token: @Sendable (Secret) -> Token
  let reload: @Sendable () async throws(ReloadFailure) -> Void

  /// `token`: names a token by its fingerprint. `reload`: reads the configuration again, whole or not at all.
  package init(
    sessions: SessionDirectory, outbox: OutboxService, hub: EventHub, clock: any Clock,
    facts: DaemonFacts, token: @escaping @Sendable (Secret) -> Token,
    reload: @escaping @Sendable () async throws(ReloadFailure) -> Void
  ) {
    self.sessions = sessions
    self.outbox = outbox
    self.hub = hub
    self.clock = clock
    self.facts = facts
    self.token = token
    self.reload = reload
  }

  package func handle(_ request: Request, from peer: any ControlPeer) async -> ControlResponse {
    guard let method = Method(rawValue: request.method) else {
      return .failure(.methodNotFound(request.method))
    }
    do throws(RPCError) {
      var params = ParameterReader(request.params)
      if method == .eventsSubscribe { return try await subscribe(&params, peer: peer) }
      return .result(try await answer(method, &params, peer: peer))
    } catch {
      return .failure(error)
    }
  }

  package func connectionClosed(_ connection: ConnectionID) async {
    hub.connectionClosed(connection)
  }

  private func answer(
    _ method: Method, _ params: inout ParameterReader, peer: any ControlPeer
  ) async throws(RPCError) -> JSON {
    switch method {
    case .daemonGetInfo: try getInfo(&params)
    case .daemonReload: try await reloadConfiguration(&params)
    case .daemonGetMetrics: throw .methodNotFound(method.rawValue)
    case .rpcDiscover: throw .methodNotFound(method.rawValue)
    case .sessionList: try await listSessions(&params)
    case .sessionGet: try await getSession(&params)
    case .sessionGetToken: try await getToken(&params)
    case .sessionReportUnauthorized: try await reportUnauthorized(&params)
    case .sessionRefresh: try await refresh(&params)
    case .sessionRehydrate: try await rehydrate(&params)
    case .sessionImport: try await importGrant(&params)
    case .sessionBeginSignIn: try await beginSignIn(&params)
    case .sessionAwaitSignIn: try await awaitSignIn(&params)
    case .sessionCancelSignIn: try cancelSignIn(&params)
    case .sessionSignOut: try await signOut(&params)
    case .sessionLock: try await lock(&params)
    case .sessionUnlock: try await unlock(&params)
    case .outboxEnqueue: try await enqueue(&params)
    case .outboxEnqueueMany: try await enqueueMany(&params)
    case .outboxGet: try await getItem(&params)
    case .outboxList: try await listItems(&params)
    case .outboxCancel: try await change(&params, .cancel)
    case .outboxRetry: try await change(&params, .retry)
    case .outboxPause: try await setPaused(&params, true)
    case .outboxResume: try await setPaused(&params, false)
    case .outboxFlush: try await flush(&params)
    case .outboxGetStats: try await getStats(&params)
    case .httpRequest: throw .methodNotFound(method.rawValue)
    case .eventsUnsubscribe: try unsubscribe(&params, peer: peer)
    case .eventsSubscribe: throw .internalError("Subscribing is answered on its own.")
    }
  }

  // MARK: - Accounts

  func entry(_ name: String) async throws(RPCError) -> (AccountName, SessionDirectory.Entry) {
    guard let account = AccountName(name), let entry = await sessions[account] else { throw .unknownAccount(name) }
    return (account, entry)
  }

  /// Asks the account's session, or the one that a new configuration puts in its place meanwhile.
  func ask(
    _ name: String, _ call: SessionCall
  ) async throws(RPCError) -> (entry: SessionDirectory.Entry, answer: SessionResponse) {
    guard let account = AccountName(name), let asked = await sessions.call(call, of: account) else {
      throw .unknownAccount(name)
    }
    return asked
  }

  /// The account that is named, or all of them.
  func entries(_ name: String?) async throws(RPCError) -> [SessionDirectory.Entry] {
    if let name { return [try await entry(name).1] }
    var entries: [SessionDirectory.Entry] = []
    for account in await sessions.accounts {
      if let entry = await sessions[account] { entries.append(entry) }
    }
    return entries
  }

  func report(_ entry: SessionDirectory.Entry) async -> SessionStatusReport {
    await entry.service.snapshot().report(issuer: entry.issuer, at: entry.service.catchUp())
  }

  func reports(_ entries: [SessionDirectory.Entry]) async -> JSON {
    var sessions: [JSON] = []
    for entry in entries { sessions.append(await report(entry).json) }
    return ["sessions": .array(sessions)]
  }

  // MARK: - The daemon

  private func getInfo(_ params: inout ParameterReader) throws(RPCError) -> JSON {
    try params.finish()
    return facts.json
  }

  private func reloadConfiguration(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    try params.finish()
    do throws(ReloadFailure) {
      try await reload()
    } catch {
      throw .internalError("The configuration was refused and the old one stays: \(error.message)")
    }
    return [:]
  }

  // MARK: - Events

  private func subscribe(
    _ params: inout ParameterReader, peer: any ControlPeer
  ) async throws(RPCError) -> ControlResponse {
    let names = try params.optionalStrings("topics")
    let name = try params.optionalString("account")
    try params.finish()
    var topics = Set(EventHub.Topic.allCases)
    if let names {
      topics = []
      for name in names {
        guard let topic = EventHub.Topic(rawValue: name) else {
          throw .invalidParams("The parameter \"topics\" has \"\(name)\"; there are session, outbox and daemon.")
        }
        topics.insert(topic)
      }
    }
    let account = if let name { try await entry(name).0 } else { nil as AccountName? }
    let (answer, start) = try hub.subscribe(topics: topics, account: account, peer: peer)
    return .subscribed(answer, start: start)
  }

  private func unsubscribe(_ params: inout ParameterReader, peer: any ControlPeer) throws(RPCError) -> JSON {
    let id = try params.string("subscription")
    try params.finish()
    guard hub.unsubscribe(id, of: peer.id) else {
      throw .invalidParams("There is no subscription \"\(id)\" on this connection.")
    }
    return [:]
  }
}

/// A configuration that cannot be used; the sentence names file and place.
package struct ReloadFailure: Error, Hashable, Sendable {
  package let message: String

  package init(message: String) {
    self.message = message
  }
}
