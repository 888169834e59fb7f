import Glibc
import HearthControl
import HearthCore
import HearthHashing
import HearthLinux
import HearthOAuth
import HearthRuntime
import HearthStorage
import Logging
import ServiceLifecycle
import UnixSignals

/// The composition root. It creates all parts and runs them until a signal stops the daemon.
struct Daemon {
  struct Setup {
    let paths: ConfiguredPaths
    let state: StatePaths
    let lock: InstanceLock
    let passed: PassedSockets
    /// The path at which to create a socket if systemd does not pass one.
    let socketPath: String
    let configuration: Configuration
    let configurationPath: String?
    let threshold: LogThreshold
    /// The level from `--log-level`, which overrides the configuration.
    let fixedLevel: Logger.Level?
    let descriptors: Descriptors
  }

  /// The parts that the daemon shares with the reloader.
  struct Parts {
    let setup: Setup
    let clock: SystemClock
    let log: Logger
    let status: StatusLine
    let hub: EventHub
    let sessions: SessionDirectory
    let signIns: SignInService
    let sinks: SinkService
    let access: APIAccess
    let outbox: OutboxService
    let requests: RequestService
    let streams: StreamService
  }

  private let parts: Parts
  private let signals: UnixSignalsSequence
  private let logger = Logger(label: "hearthd")
  private let reauth: ReauthService
  private let revocations: RevocationService
  private let outboxStore: SQLiteOutboxStore
  private let responses: SQLiteResponseStore
  private let metrics: Metrics
  private let server: ControlServer
  private let sockets: SocketKeeper
  private let watch: InotifyWatch
  private let senders: (token: HTTPSender, api: HTTPSender)
  private let reloader: Reloader
  /// Session changes for the other services, in order.
  private let sessionUpdates = WorkInbox()

  init(_ setup: Setup) async throws {
    // Trap signals first, so that an early signal stops the daemon cleanly.
    signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    let configuration = setup.configuration
    let clock = try SystemClock()
    let (status, sessions) = (StatusLine(), SessionDirectory())
    let hub = EventHub(clock: clock)
    let metrics = Metrics(
      store: FileMetricsStore(path: setup.state.metrics, files: LinuxFileSystem(), clock: clock, logger: logger),
      clock: clock, logger: logger, elapsed: ControlServer.uptime)
    self.metrics = metrics
    // Open the socket before the outbox, so that the outbox is not touched if another daemon uses the socket.
    let sockets = try Self.sockets(setup)
    if let complaint = setup.passed.complaint { logger.warning("\(complaint)") }
    // If the outbox cannot be opened, sessions still work. Outbox calls fail until a retry opens the outbox.
    outboxStore = SQLiteOutboxStore.openOrWait(at: setup.state.outbox, clock: clock) { [logger] in
      logger.error("\($0)")
    }
    // Nothing may throw after this line. The senders must be shut down before they are released, and only `run` does
    // that.
    let userAgent = "hearth/\(HearthVersion.text)"
    senders = (
      HTTPSender(connections: .fresh, userAgent: userAgent, clock: clock, authorities: setup.paths.authorities),
      HTTPSender(
        connections: .kept, userAgent: userAgent, clock: clock, authorities: setup.paths.authorities,
        idleTime: setup.descriptors.idleTime)
    )
    let (api, access) = (HTTPAPIEndpoint(sender: senders.api), APIAccess())
    let outbox = OutboxService(
      store: outboxStore, bearers: sessions, api: metrics.measuring(api), access: access, clock: clock,
      settings: configuration.outbox, log: logger,
      publish: { events, overview in
        hub.update(overview, after: events)
        metrics.update(after: events)
        status.outboxIs(overview.all)
      })
    responses = SQLiteResponseStore(path: setup.state.responses, logger: logger)
    let requests = RequestService(
      bearers: sessions, api: api, access: access, store: responses, clock: clock,
      sent: { metrics.requested(for: $0, status: $1) })
    let streams = StreamService(requests: requests, exchanges: api, clock: clock)
    let revocations = RevocationService(
      sessions: sessions,
      store: FileRevocationStore(folder: setup.state.revocations, files: LinuxFileSystem(), logger: logger),
      clock: clock, logger: logger)
    self.revocations = revocations
    let signIns = SignInService(
      redirects: LoopbackListener(logger: logger), revocationsEnd: { await revocations.waitUntilIdle(for: $0) })
    let reauth = ReauthService(sessions: sessions, signIns: signIns, pages: setup.paths.browser, logger: logger)
    self.reauth = reauth
    let sinks = SinkService(
      sessions: sessions, record: FileSinkRecord(path: setup.state.sinks, files: LinuxFileSystem(), clock: clock),
      clock: clock, logger: logger,
      makeFiles: { target, marks in
        switch target {
        case .file: LinuxSinkFiles(marks: marks)
        case .netrc(let account, _): NetrcSinkFiles(account)
        }
      })
    let watch = InotifyWatch(logger: logger)
    let troubles = SocketTroubles()
    self.watch = watch
    let builder = SessionBuilder(
      state: setup.state, clock: clock, watch: watch, logger: logger,
      sender: senders.token, api: api,
      accounts: AccountsFile(path: setup.state.accounts, files: LinuxFileSystem(), clock: clock, logger: logger),
      sessions: sessions, revocations: revocations,
      skewMeasured: { [sessionUpdates] name, skew in
        sessionUpdates.add { await outbox.providerTimeReported(of: name, skew: skew) }
      },
      publish: { [logger, sessionUpdates] events, session in
        hub.update(session, after: events)
        metrics.update(session, after: events)
        for event in events { logger.record(.session(event, session)) }
        sinks.sessionChanged(session.account, session.state)
        sessionUpdates.add {
          await outbox.sessionChanged(
            session.account, permission: session.outboxPermission, knownSubject: session.outboxUser,
            formerly: session.formerSubject, token: session.token?.fingerprint)
          await requests.sessionChanged(session.account, session.state, session.subject)
          await streams.sessionChanged(session)
          await revocations.sessionChanged(session.account, session.state, session.subject)
        }
        if events.contains(where: \.isEndOfUse) { reauth.sessionEnded(session.account) }
        if events.contains(where: \.isSignIn) { sessionUpdates.add { await outbox.signedIn(session.account) } }
        status.sessionIs(session.account, session.state)
      })
    parts = Parts(
      setup: setup, clock: clock, log: logger, status: status, hub: hub, sessions: sessions, signIns: signIns,
      sinks: sinks, access: access, outbox: outbox, requests: requests, streams: streams)
    let reloader = Reloader(parts, builder, socketPath: sockets.lazy.compactMap(\.path).first ?? setup.socketPath) {
      [setup.passed.complaint, watch.trouble].compactMap(\.self) + troubles.sentences
    }
    self.reloader = reloader
    let control = ControlService(
      sessions: sessions, signIns: signIns, revocations: revocations, sinks: sinks, outbox: outbox,
      requests: requests, streams: streams, hub: hub, metrics: metrics, clock: clock, info: { await reloader.info },
      rules: { await reloader.rules },
      token: { Token(hashing: $0) },
      reload: { try await reloader.reload() })
    server = ControlServer(
      sockets: sockets, handler: control,
      limits: ControlLimits(maximumBody: configuration.outbox.maxBody, connections: setup.descriptors.connections),
      logger: logger)
    self.sockets = SocketKeeper(server, troubles: troubles, watch: watch.ofPlaces, clock: clock, logger: logger)
    await reloader.serve(server)
  }

  /// Returns the sockets from systemd. If there are none, creates a new socket.
  private static func sockets(_ setup: Setup) throws -> [ListeningSocket] {
    let passed = try setup.passed.listeners()
    return passed.isEmpty ? [try ListeningSocket(path: setup.socketPath)] : passed
  }

  /// How long stopping may take, in addition to waiting for providers.
  private static let stopMargin: Duration = .seconds(3)

  /// Runs the daemon until SIGTERM or SIGINT, or until another daemon takes over the state folder.
  func run() async throws {
    await metrics.recall()
    await reloader.apply(parts.setup.configuration)
    var services = [
      DaemonService(run: serve, stop: finish), DaemonService(run: sessionUpdates.runInOrder),
      DaemonService(run: watchNetwork), DaemonService(run: sockets.run),
    ]
    if let interval = ServiceNotifier.watchdogInterval() {
      let reportAlive = DaemonService {
        await ServiceNotifier().keepAlive(every: interval, clock: parts.clock) {
          _ = await parts.sessions.accounts
          return true
        }
      }
      services.append(reportAlive)
    }
    // If another daemon takes over the state folder, finish the running work and stop.
    let keepLock = DaemonService {
      try await parts.setup.lock.keep(watch.ofPlaces, clock: parts.clock, logger: logger)
    }
    let lock = ServiceGroupConfiguration.ServiceConfiguration(
      service: keepLock, failureTerminationBehavior: .gracefullyShutdownGroup)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: services.map { .init(service: $0) } + [lock], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      tasks.addTask { await handleSignals(of: group) }
      await parts.outbox.waitUntilReady(for: parts.sessions.accounts)
      await parts.sinks.waitUntilIdle()
      logger.record(.started)
      parts.status.ready()
      try await tasks.next()
      tasks.cancelAll()
    }
    await senders.token.shutdown()
    await senders.api.shutdown()
    await outboxStore.close()
    await responses.close()
    parts.clock.stop()
  }

  /// Runs the services that clients use, and starts the server once the outbox is ready. Returns when all have ended.
  private func serve() async throws {
    try await withThrowingTaskGroup(of: Void.self) { services in
      services.addTask { await parts.sessions.run() }
      services.addTask { await parts.signIns.run() }
      services.addTask { await reauth.run() }
      services.addTask { await revocations.run() }
      services.addTask { await parts.outbox.run() }
      services.addTask { await parts.streams.run() }
      services.addTask { await metrics.run() }
      services.addTask { await parts.sinks.run() }
      services.addTask {
        await parts.outbox.waitUntilReady(for: parts.sessions.accounts)
        try await server.run()
      }
      try await services.waitForAll()
    }
  }

  /// Stops accepting calls and starting deliveries. Refreshes in progress may finish, so calls that wait for a refresh
  /// still get their answers.
  private func finish() async {
    server.shutDown()
    reauth.stop()
    await parts.signIns.stop()
    await parts.streams.stop()
    async let sinksAreGone: Void = parts.sinks.stop()
    await parts.outbox.shutdown()
    await parts.sessions.stop()
    await sinksAreGone
    await revocations.stop()
    metrics.stop()
    server.end()
  }

  private func watchNetwork() async {
    for await _ in NetworkWatch.hints() {
      await parts.sessions.networkReturned()
      await parts.outbox.networkReturned()
      await revocations.networkReturned()
      // Wait before the next retry. When a network comes up, its addresses and routes usually appear one after another
      // within seconds.
      await parts.clock.sleep(until: parts.clock.now() + .seconds(3))
    }
    // The kernel's notifications have ended or are unavailable, so continue without them. Failed attempts are then
    // retried only after the usual delay.
    try? await gracefulShutdown()
  }

  /// Handles signals. Returns after a stop signal, once requests in progress have had time to finish.
  private func handleSignals(of group: ServiceGroup) async {
    await withDiscardingTaskGroup { reloads in
      for await signal in signals {
        guard signal != .sighup else {
          reloads.addTask { try? await reloader.reload() }
          continue
        }
        logger.record(.stopping)
        let timeout = await reloader.stopTimeout + Self.stopMargin
        parts.status.stopping(within: timeout)
        await group.triggerGracefulShutdown()
        await parts.clock.sleep(until: parts.clock.now() + timeout)
        return reloads.cancelAll()
      }
    }
  }
}

/// A service in the daemon's service group. It runs until it is stopped, and stopping may take a while.
private struct DaemonService: Service {
  let run: @Sendable () async throws -> Void
  /// Asks `run` to end, or `nil` if `run` may be cancelled at any time.
  var stop: (@Sendable () async -> Void)?

  func run() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await run()
        return true
      }
      group.addTask {
        guard (try? await gracefulShutdown()) != nil else { return false }
        await stop?()
        return stop == nil
      }
      for try await hasEnded in group where hasEnded { group.cancelAll() }
    }
  }
}
