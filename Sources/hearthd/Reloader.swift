import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage

/// Reads the configuration again and applies what changed; a bad configuration changes nothing.
actor Reloader {
  private let setup: Daemon.Setup
  private let builder: SessionBuilder
  private let sessions: SessionDirectory
  private let signIns: SignInService
  private let outbox: OutboxService
  private let requests: RequestService
  private let streams: StreamService
  private let sinks: SinkService
  private let hub: EventHub
  private let log: EventLog
  private let status: StatusLine
  private let places: PlacesInUse
  private var current = Configuration()
  /// Makes a reload wait for the one before it.
  private let mutex = AsyncMutex()
  private var server: ControlServer?
  private var oidcAgent: OIDCAgentSocket?
  /// Stores outlive a session whose configuration changes, so that a passphrase is not asked for twice.
  private var stores: [AccountName: FileCredentialStore] = [:]

  init(
    setup: Daemon.Setup, builder: SessionBuilder, sessions: SessionDirectory, signIns: SignInService,
    outbox: OutboxService, requests: RequestService, streams: StreamService, sinks: SinkService, hub: EventHub,
    log: EventLog, status: StatusLine, places: PlacesInUse
  ) {
    self.setup = setup
    self.builder = builder
    self.sessions = sessions
    self.signIns = signIns
    self.outbox = outbox
    self.requests = requests
    self.streams = streams
    self.sinks = sinks
    self.hub = hub
    self.log = log
    self.status = status
    self.places = places
  }

  /// How long the daemon waits for requests to providers when it stops, as configured now.
  var stopPatience: Duration { current.refresh.stopPatience }

  /// Makes the server's limits, and the socket for oidc-agent's clients, follow the configuration from now on.
  func serve(_ server: ControlServer, _ oidcAgent: OIDCAgentSocket) {
    self.server = server
    self.oidcAgent = oidcAgent
  }

  func reload() async throws(ReloadFailure) {
    try await mutex.withLock { () async throws(ReloadFailure) in try await readAgain() }
  }

  private func readAgain() async throws(ReloadFailure) {
    let (fresh, path): (Configuration, String?)
    do throws(ConfigurationError) {
      (fresh, path) = try Configuration.load(from: setup.paths)
    } catch {
      log.record(.configurationRefused(error.description))
      throw ReloadFailure(message: error.description)
    }
    ServiceNotifier().reloading()
    places.configurationIs(path)
    await apply(fresh)
    await outbox.waitUntilReady(for: sessions.accounts)
    await sinks.settle()
    let event = Event.reloaded(version: HearthVersion.text)
    log.record(event)
    hub.publish(event)
    status.ready()
  }

  /// Makes the daemon serve this configuration. Sessions whose configuration is the same go on undisturbed.
  func apply(_ fresh: Configuration) async {
    let old = current
    current = fresh
    setup.threshold.level = setup.fixedLevel ?? fresh.logLevel
    // First, so that no file of an account that is gone outlives its session.
    sinks.configure(fresh.sinks)
    let apis = Dictionary(uniqueKeysWithValues: fresh.accounts.map { ($0.name, $0.provider.api) })
    let oldAPIs = Dictionary(uniqueKeysWithValues: old.accounts.map { ($0.name, $0.provider.api) })
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
        if isSame, let entry = await sessions[account.name] {
          await entry.service.settingsChanged(fresh.refresh)
        } else {
          let store = before?.credential == account.credential ? stores[account.name] : nil
          changes.addTask { await self.serve(account, in: store, refresh: fresh.refresh) }
        }
      }
    }
    await allow(apis, fresh.outbox)
    server?.change(ControlLimits(maximumBody: fresh.outbox.maxBody, connections: setup.descriptors.connections))
    await oidcAgent?.apply(fresh.oidcAgentSocket)
  }

  private func remove(_ account: AccountName) async {
    await sessions.set(nil, for: account)
    await signIns.end(allOf: account, .reconfigured)
    hub.remove(account)
    status.sessionIs(account, nil)
  }

  /// From now on tokens go to these APIs alone.
  private func allow(_ apis: [AccountName: APISettings], _ settings: OutboxSettings) async {
    await outbox.accountsChanged(apis, settings: settings)
    await requests.accountsChanged(apis, maxBody: settings.maxBody)
    await streams.accountsChanged(apis)
  }

  private func serve(_ account: AccountConfiguration, in existing: FileCredentialStore?, refresh: RefreshSettings) async
  {
    let store = existing ?? builder.store(for: account)
    stores[account.name] = store
    await sessions.set(builder.session(for: account, in: store, refresh: refresh), for: account.name)
    await signIns.end(allOf: account.name, .reconfigured)
  }
}
