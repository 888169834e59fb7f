import Glibc
import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging

/// Reloads the configuration and applies the changes. If the configuration is invalid, nothing changes.
actor Reloader {
  private let parts: Daemon.Parts
  private let builder: SessionBuilder
  private let startedAt: Timestamp
  private let socketPath: String
  /// Returns the current problems in the daemon's environment, as sentences.
  private let warnings: @Sendable () -> [String]
  /// The path of the configuration in use, or `nil` if there was no file.
  private var configurationPath: String?
  private var current = Configuration()
  /// The reason why the last reload failed, or `nil` if it succeeded.
  private var refusal: String?
  /// Serializes reloads.
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

  /// Information about the running daemon, for clients. A reload may change the configuration's path and the warnings.
  var info: DaemonInfo {
    let files = parts.setup.state
    let refused = refusal.map {
      "The new configuration was rejected, so the previous one stays in use. Reason: \($0). Fix it and run "
        + "\"hearthctl reload\"."
    }
    let warnings = [refused].compactMap(\.self) + warnings()
    return DaemonInfo(
      pid: Int(getpid()), startedAt: startedAt,
      paths: [
        ("configuration", configurationPath), ("state", files.folder), ("credentials", files.credentials),
        ("outbox", files.outbox), ("socket", socketPath),
      ], warnings: warnings.isEmpty ? nil : warnings)
  }

  /// The current rules that select an account for programs that do not specify an account.
  var rules: AccountRules { current.rules }

  /// How long the daemon waits for requests to providers when it stops.
  var stopTimeout: Duration { current.refresh.stopTimeout }

  /// Sets the server to which each new configuration's limits are applied.
  func serve(_ server: ControlServer) { self.server = server }

  /// Applies the configuration completely or not at all. The failure names the file and, if known, the line.
  func reload() async throws {
    try await mutex.withLock { try await readAgain() }
  }

  private func readAgain() async throws {
    let (fresh, path): (Configuration, String?)
    do {
      (fresh, path) = try Configuration.load(from: parts.setup.paths)
    } catch {
      parts.log.record(.configurationRefused("\(error)"))
      refusal = "\(error)"
      throw Failure(
        .internalError, "The new configuration was rejected, so the previous one stays in use. Reason: \(error)")
    }
    refusal = nil
    ServiceNotifier().reloading()
    configurationPath = path
    let changes = fresh.changes(from: current)
    parts.log.debug("Changes in the configuration: \(changes.isEmpty ? "none" : changes.joined(separator: "; ")).")
    await apply(fresh)
    await parts.outbox.waitUntilReady(for: parts.sessions.begun)
    await parts.sinks.waitUntilIdle()
    parts.log.record(.reloaded)
    parts.hub.publish(.reloaded)
    parts.status.ready()
  }

  /// Applies a configuration. Sessions whose configuration has not changed are not affected.
  func apply(_ fresh: Configuration) async {
    let old = current
    current = fresh
    parts.setup.threshold.level = parts.setup.fixedLevel ?? fresh.logLevel
    // Update sinks before sessions, so that the token file of a removed account does not outlive its session.
    parts.sinks.configure(fresh.sinks)
    let former = Dictionary(uniqueKeysWithValues: old.accounts.map { ($0.name, $0) })
    let apis = Dictionary(uniqueKeysWithValues: fresh.accounts.map { ($0.name, $0.api) })
    // Update accounts before origins. Otherwise, a token from a replaced provider could be sent to a new origin.
    for account in fresh.accounts {
      if let former = former[account.name] { await update(account, after: former) }
    }
    // Restrict tokens to the new APIs from now on.
    parts.access.change(to: apis)
    await parts.outbox.accountsChanged(settings: fresh.outbox)
    await parts.requests.accountsChanged(maxBody: fresh.outbox.maxBody)
    await parts.streams.accountsChanged()
    for name in former.keys where apis[name] == nil {
      await parts.sessions.remove(name)
      parts.hub.remove(name)
      parts.status.sessionIs(name, nil)
    }
    for account in fresh.accounts where former[account.name] == nil {
      await parts.sessions.add(builder.session(for: account))
    }
    server?.change(ControlLimits(maximumBody: fresh.outbox.maxBody, connections: parts.setup.descriptors.connections))
    if fresh.oidcAgentSocket {
      let advice = "\"systemctl --user enable --now hearth-oidc-agent.socket\""
      parts.log.warning(
        "oidc_agent_socket no longer has any effect and can be removed. To serve oidc-agent's clients, run \(advice).")
    }
  }

  /// Updates the account's running session. Keeps the discovered endpoints if the provider and refresh settings are
  /// unchanged, and the passphrase if the credential settings are unchanged.
  private func update(_ account: AccountConfiguration, after former: AccountConfiguration) async {
    guard var entry = await parts.sessions[account.name] else { return }
    var tokens: (any TokenEndpoint)?
    if account.provider != former.provider || account.session.refresh != former.session.refresh {
      (tokens, entry.signIn, entry.probe) = builder.endpoints(of: account)
      (entry.offer, entry.revokesOneGrant) = (account.provider.offer, account.provider.revokesOneGrant)
    }
    let store = account.credential == former.credential ? nil : builder.store(for: account)
    entry.revocations = account.credential.keepsRevocations
    await entry.service.configured(
      account.session, endpoint: tokens, isOtherProvider: !account.provider.sharesGrants(with: former.provider),
      store: store)
    await parts.sessions.update(entry)
  }
}
