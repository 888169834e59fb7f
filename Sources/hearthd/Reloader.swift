import HearthControl
import HearthCore
import HearthLinux
import HearthRuntime
import HearthStorage

/// Reads the configuration again and carries over what changed, whole or not at all.
actor Reloader {
  private let setup: Daemon.Setup
  private let builder: SessionBuilder
  private let sessions: SessionDirectory
  private let outbox: OutboxService
  private let hub: EventHub
  private let log: EventLog
  private let status: StatusLine
  private var current = Configuration()
  /// A reload waits for the one before it.
  private let turns = AsyncMutex()
  private var server: ControlServer?
  /// They outlive a session whose configuration changes: a passphrase is not asked for twice.
  private var stores: [AccountName: FileCredentialStore] = [:]

  init(
    setup: Daemon.Setup, builder: SessionBuilder, sessions: SessionDirectory, outbox: OutboxService, hub: EventHub,
    log: EventLog, status: StatusLine
  ) {
    self.setup = setup
    self.builder = builder
    self.sessions = sessions
    self.outbox = outbox
    self.hub = hub
    self.log = log
    self.status = status
  }

  /// How long requests to providers are waited for when the daemon stops, as configured now.
  var stopPatience: Duration { current.refresh.stopPatience }

  /// Whose limits follow the configuration from now on.
  func limit(_ server: ControlServer) { self.server = server }

  func reload() async throws(ReloadFailure) {
    await turns.take()
    let result = await Result { () async throws(ReloadFailure) in try await readAgain() }
    await turns.pass()
    try result.get()
  }

  private func readAgain() async throws(ReloadFailure) {
    let fresh: Configuration
    do throws(ConfigurationError) {
      fresh = try Configuration.load(from: setup.places).configuration
    } catch {
      log.record(.configurationRefused(error.description))
      throw ReloadFailure(message: error.description)
    }
    ServiceNotifier().reloading()
    await apply(fresh)
    await outbox.receive(from: sessions.accounts)
    let event = Event.reloaded(version: HearthVersion.text)
    log.record(event)
    hub.publish(event)
    status.ready()
  }

  /// Makes the daemon serve this configuration; what did not change goes on undisturbed.
  func apply(_ fresh: Configuration) async {
    let old = current
    current = fresh
    setup.threshold.level = setup.fixedLevel ?? fresh.logLevel
    let origins = Dictionary(uniqueKeysWithValues: fresh.accounts.map { ($0.name, Set($0.apiOrigins)) })
    let oldOrigins = Dictionary(uniqueKeysWithValues: old.accounts.map { ($0.name, Set($0.apiOrigins)) })
    // New origins come last: the token of a session that is being replaced goes to none of them.
    await outbox.accountsChanged(
      origins.merging(oldOrigins) { $0.intersection($1) }.filter { origins[$0.key] != nil }, settings: fresh.outbox)
    for account in old.accounts where !fresh.accounts.contains(where: { $0.name == account.name }) {
      stores[account.name] = nil
      await sessions.set(nil, for: account.name)
      hub.remove(account.name)
      status.sessionIs(account.name, nil)
    }
    // Each waits for its own refresh in flight, and for no other's.
    await withDiscardingTaskGroup { changes in
      for account in fresh.accounts {
        let before = old.accounts.first { $0.name == account.name }
        let isSame = before == account && old.refresh.requestTimeout == fresh.refresh.requestTimeout
        if isSame, let entry = await sessions[account.name] {
          await entry.service.settingsChanged(fresh.refresh)
        } else {
          let store = before.map(account.isKept(as:)) == true ? stores[account.name] : nil
          changes.addTask { await self.serve(account, in: store, refresh: fresh.refresh) }
        }
      }
    }
    await outbox.accountsChanged(origins, settings: fresh.outbox)
    server?.change(ControlLimits(maximumBody: fresh.outbox.maxBody))
  }

  private func serve(_ account: AccountConfiguration, in kept: FileCredentialStore?, refresh: RefreshSettings) async {
    let store = kept ?? builder.store(for: account)
    stores[account.name] = store
    do {
      await sessions.set(try builder.session(for: account, in: store, refresh: refresh), for: account.name)
    } catch {
      log.record(.configurationRefused("The account \(account.name) cannot be served: \(error)"))
    }
  }
}
