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
  /// Makes a reload wait for the one before it.
  private let mutex = AsyncMutex()
  private var server: ControlServer?
  /// Stores outlive a session whose configuration changes, so that a passphrase is not asked for twice.
  private var stores: [AccountName: FileCredentialStore] = [:]

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
    let warnings = warnings()
    return DaemonInfo(
      pid: Int(getpid()), startedAt: startedAt,
      paths: [
        ("configuration", configurationPath), ("state", files.folder), ("credentials", files.credentials),
        ("outbox", files.outbox), ("socket", socketPath),
      ], warnings: warnings.isEmpty ? nil : warnings)
  }

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
      throw ReloadFailure(message: error.description)
    }
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
    let (apis, oldAPIs) = (fresh.apis, old.apis)
    // New origins are added last, so that the token of a session which is being replaced goes to none of them.
    await allow(
      apis.merging(oldAPIs) { new, old in
        APISettings(
          origins: new.allOrigins.intersection(old.allOrigins), expect: new.expect, overrides: new.overrides)
      }.filter { apis[$0.key] != nil }, fresh.outbox)
    // Each new session waits for the refresh in flight of the one that it replaces, and for no other.
    await withDiscardingTaskGroup { changes in
      for account in old.accounts where !fresh.accounts.contains(where: { $0.name == account.name }) {
        stores[account.name] = nil
        changes.addTask { await self.remove(account.name) }
      }
      for account in fresh.accounts {
        let before = old.accounts.first { $0.name == account.name }
        let isSame = before == account && old.refresh.requestTimeout == fresh.refresh.requestTimeout
        if isSame, let entry = await parts.sessions[account.name] {
          await entry.service.settingsChanged(fresh.refresh)
        } else {
          let store = before?.credential == account.credential ? stores[account.name] : nil
          changes.addTask { await self.serve(account, in: store, refresh: fresh.refresh) }
        }
      }
    }
    await allow(apis, fresh.outbox)
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

  private func serve(_ account: AccountConfiguration, in existing: FileCredentialStore?, refresh: RefreshSettings) async
  {
    let store = existing ?? builder.store(for: account)
    stores[account.name] = store
    await parts.sessions.set(builder.session(for: account, in: store, refresh: refresh), for: account.name)
    await parts.signIns.end(allOf: account.name, .reconfigured)
  }
}
