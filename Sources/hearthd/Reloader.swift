import Glibc
import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Reads the configuration again and applies what changed; a bad configuration changes nothing.
actor Reloader {
  private let parts: Daemon.Parts
  private let builder: SessionBuilder
  private let startedAt: Timestamp
  private let socketPath: String
  /// What is wrong around the daemon now, a sentence each.
  private let warnings: @Sendable () -> [String]
  /// The file that was read last. It is nil if there was none, and the defaults hold.
  private var configurationPath: String?
  private var current = Configuration()
  /// Why the file that was read last is not in use. It is nil if it is.
  private var refusal: String?
  /// Makes a reload wait for the one before it.
  private let mutex = AsyncMutex()
  private var server: ControlServer?

  init(
    _ parts: Daemon.Parts, _ builder: SessionBuilder, socketPath: String, warnings: @escaping @Sendable () -> [String]
  ) {
    self.parts = parts
    self.builder = builder
    self.socketPath = socketPath
    self.warnings = warnings
    startedAt = parts.clock.now()
    configurationPath = parts.setup.configurationPath
  }

  /// What the daemon says of itself, with the places that it uses now: a reload may change them.
  var info: DaemonInfo {
    let files = parts.setup.state
    let refused = refusal.map {
      "The configuration was refused, and the earlier one stays in use: \($0). Fix it and run \"hearthctl reload\"."
    }
    let warnings = [refused].compactMap(\.self) + warnings()
    return DaemonInfo(
      pid: Int(getpid()), startedAt: startedAt,
      paths: [
        ("configuration", configurationPath), ("state", files.folder), ("credentials", files.credentials),
        ("outbox", files.outbox), ("socket", socketPath),
      ], warnings: warnings.isEmpty ? nil : warnings)
  }

  /// Which account a program gets that names none, as configured now.
  var rules: AccountRules { current.rules }

  /// How long the daemon waits for requests to providers when it stops, as configured now.
  var stopTimeout: Duration { current.refresh.stopTimeout }

  /// Makes the server's limits follow the configuration from now on.
  func serve(_ server: ControlServer) { self.server = server }

  func reload() async throws(ReloadFailure) {
    try await mutex.withLock { () async throws(ReloadFailure) in try await readAgain() }
  }

  private func readAgain() async throws(ReloadFailure) {
    let (fresh, path): (Configuration, String?)
    do throws(ConfigurationError) {
      (fresh, path) = try Configuration.load(from: parts.setup.paths)
    } catch {
      parts.log.record(.configurationRefused(error.description))
      refusal = error.description
      throw ReloadFailure(message: error.description)
    }
    refusal = nil
    ServiceNotifier().reloading()
    configurationPath = path
    await apply(fresh)
    await parts.outbox.waitUntilReady(for: parts.sessions.accounts)
    await parts.sinks.waitUntilIdle()
    let event = Event.reloaded(version: HearthVersion.text)
    parts.log.record(event)
    parts.hub.publish(event)
    parts.status.ready()
  }

  /// Makes the daemon serve this configuration. Sessions whose configuration is the same go on undisturbed.
  func apply(_ fresh: Configuration) async {
    let old = current
    current = fresh
    parts.setup.threshold.level = parts.setup.fixedLevel ?? fresh.logLevel
    // First, so that no file of an account that is gone outlives its session.
    parts.sinks.configure(fresh.sinks)
    let former = Dictionary(uniqueKeysWithValues: old.accounts.map { ($0.name, $0) })
    let apis = Dictionary(uniqueKeysWithValues: fresh.accounts.map { ($0.name, $0.api) })
    let replaced = fresh.accounts.filter { former[$0.name]?.sharesSession(with: $0) == false }
    // New origins are added last, so that the token of a session which is being replaced goes to none of them.
    await allow(
      replaced.reduce(into: apis) { $0[$1.name]?.keepOrigins(of: former[$1.name]?.api) }, fresh.outbox)
    // Each new session waits for the refresh in flight of the one that it replaces, and for no other.
    await withDiscardingTaskGroup { changes in
      for name in former.keys where apis[name] == nil { changes.addTask { await self.remove(name) } }
      for account in fresh.accounts { changes.addTask { await self.serve(account, after: former[account.name]) } }
    }
    if !replaced.isEmpty { await allow(apis, fresh.outbox) }
    server?.change(ControlLimits(maximumBody: fresh.outbox.maxBody, connections: parts.setup.descriptors.connections))
    if fresh.oidcAgentSocket {
      let advice = "\"systemctl --user enable --now hearth-oidc-agent.socket\""
      Logger(label: "hearthd").warning(
        "oidc_agent_socket does nothing any more, and can be removed: \(advice) serves its clients.")
    }
  }

  private func remove(_ account: AccountName) async {
    await parts.sessions.set(nil, for: account)
    await parts.signIns.end(allOf: account, .reconfigured)
    parts.hub.remove(account)
    parts.status.sessionIs(account, nil)
  }

  /// From now on tokens go to these APIs alone.
  private func allow(_ apis: [AccountName: APISettings], _ settings: OutboxSettings) async {
    parts.access.change(to: apis)
    await parts.outbox.accountsChanged(settings: settings)
    await parts.requests.accountsChanged(maxBody: settings.maxBody)
    await parts.streams.accountsChanged()
  }

  /// The account's session goes on if it can, and its store if not, so that a passphrase is not asked for twice.
  private func serve(_ account: AccountConfiguration, after former: AccountConfiguration?) async {
    let entry = await parts.sessions[account.name]
    if let former, var entry, account.sharesSession(with: former) {
      var tokens: (any TokenEndpoint)?
      // What a provider has told of its endpoints is kept as long as it is asked as before.
      if account.provider != former.provider || account.session.refresh != former.session.refresh {
        (tokens, entry.signIn, entry.probe) = builder.endpoints(of: account)
        (entry.offer, entry.revokesOneGrant) = (account.provider.offer, account.provider.revokesOneGrant)
      }
      return await parts.sessions.update(entry, account.session, tokens)
    }
    let store = former?.credential == account.credential ? entry?.service.store : nil
    await parts.sessions.set(builder.session(for: account, in: store), for: account.name)
    await parts.signIns.end(allOf: account.name, .reconfigured)
  }
}
