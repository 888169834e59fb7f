import HearthCore
import HearthRuntime
import HearthStorage
import Logging
import TestSupport

/// One run of the daemon's services, put together as `hearthd` does, on the ports of a simulated world.
final class SimulatedDaemon: @unchecked Sendable {
  private enum SessionUpdate: Sendable {
    case changed(SessionStatus)
    case skewMeasured(AccountName, skew: Duration)
  }

  let number: Int
  let store: SimulatedOutboxStore
  let outbox: OutboxService
  let sessions = SessionDirectory()
  private(set) var services: [AccountName: SessionService] = [:]
  private let executor: SteppedExecutor
  private let names: [AccountName]
  private let updates: AsyncStream<SessionUpdate>
  private let feed: AsyncStream<SessionUpdate>.Continuation
  /// A daemon that is gone can do nothing to the world any more.
  var isAlive = true
  private(set) var hasEnded = false

  init(_ number: Int, in world: OutboxSimulation) throws {
    self.number = number
    executor = world.executor
    names = world.accounts.map(\.name)
    (updates, feed) = AsyncStream<SessionUpdate>.makeStream()
    let logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
    let file = try SQLiteOutboxStore.open(at: world.folder.file("outbox.sqlite"), clock: world.clock)
    if let place = file.setAside { throw Violation("a sound outbox was set aside: \(place)") }
    store = SimulatedOutboxStore(file.store, in: world, of: number)
    let apis = APISettings(origins: Set(world.origins.keys), expect: .json)
    outbox = OutboxService(
      store: store, bearers: sessions, api: SimulatedAPI(world, number),
      access: APIAccess(Dictionary(uniqueKeysWithValues: names.map { ($0, apis) })), clock: world.clock,
      settings: world.settings, log: logger,
      random: { [unowned world] in Double.random(in: 0..<1, using: &world.random) },
      makeID: { [unowned world] in OutboxItem.makeID(at: $0, random: (world.random.next(), world.random.next())) },
      publish: { [unowned world] events, _ in
        for event in events { world.published(event, number) }
      })
    for account in world.accounts {
      services[account.name] = SessionService(
        account: account.name, settings: .obeyingEveryLock,
        store: SimulatedCredentialStore(account, in: world, of: number),
        endpoint: SimulatedTokenEndpoint(account, in: world, of: number), clock: world.clock, logger: logger,
        seed: world.random.next(),
        skewMeasured: { [feed, name = account.name] in feed.yield(.skewMeasured(name, skew: $0)) },
        publish: { [feed, unowned world] events, snapshot in
          feed.yield(.changed(snapshot))
          world.published(events, snapshot, number)
        })
    }
  }

  func start() {
    executor.begin {
      for name in self.names {
        guard let service = self.services[name] else { continue }
        await self.sessions.add(SessionDirectory.Entry(service: service, signIn: ScriptedSignInEndpoint()))
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await self.sessions.run()
          self.feed.finish()
        }
        group.addTask { await self.outbox.run() }
        group.addTask { await self.feedOutbox() }
      }
      self.hasEnded = true
    }
  }

  private func feedOutbox() async {
    for await update in updates {
      switch update {
      case .changed(let snapshot):
        await outbox.sessionChanged(
          snapshot.account, permission: snapshot.outboxPermission, knownSubject: snapshot.subject,
          formerly: snapshot.formerSubject,
          token: snapshot.token?.fingerprint)
      case .skewMeasured(let name, let skew): await outbox.providerTimeReported(of: name, skew: skew)
      }
    }
  }

  /// In order, as on SIGTERM.
  func stop() {
    executor.begin {
      await self.outbox.shutdown()
      await self.sessions.stop(timeout: .seconds(3))
    }
  }

  /// Only so that no task stays behind: the world receives nothing of it.
  func dismantle() {
    executor.begin {
      await self.outbox.shutdown(grace: .zero)
      await self.sessions.stop(timeout: .zero)
    }
  }
}
