import HearthCore
import HearthStorage
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

/// An outbox service on a real store, with an API, sessions and a clock that the test moves.
struct ServiceFixture: Sendable {
  let folder: TemporaryFolder
  let store: FaultyOutboxStore
  let api: ScriptedAPIEndpoint
  let bearers: ScriptedBearerTokenProvider
  let clock: ManualClock
  let published: OutboxEventLog<OutboxEvent>
  /// How many items there were each time they were published.
  let counts: OutboxEventLog<OutboxStats>
  let service: OutboxService

  func signIn(_ subject: Subject? = Sample.alice, account: AccountName = Sample.work) async {
    bearers.set(subject: subject)
    await service.sessionChanged(
      account, permission: .sendable(under: subject), knownSubject: subject, token: bearers.current.fingerprint)
  }

  func block(_ reason: String, knownSubject: Subject? = Sample.alice, account: AccountName = Sample.work) async {
    await service.sessionChanged(account, permission: .blocked(reason: reason), knownSubject: knownSubject, token: nil)
  }

  @discardableResult
  func add(_ drafts: OutboxDraft...) async throws -> [String] {
    try await service.enqueueMany(drafts).map(\.item.id)
  }

  func delivered(_ id: String) async {
    await published.first { if case .delivered(let item) = $0 { item.id == id } else { false } }
  }

  @discardableResult
  func dead(_ id: String) async -> OutboxItem? {
    item(await published.first { if case .dead(let item) = $0 { item.id == id } else { false } })
  }

  @discardableResult
  func retrying(_ id: String, attempts: Int? = nil) async -> OutboxItem? {
    item(
      await published.first {
        if case .retrying(let item) = $0 {
          item.id == id && (attempts ?? item.attempts) == item.attempts
        } else {
          false
        }
      })
  }

  private func item(_ event: OutboxEvent) -> OutboxItem? {
    switch event {
    case .enqueued(let item), .delivered(let item), .retrying(let item), .dead(let item), .held(let item): item
    case .paused, .resumed: nil
    }
  }

  /// Waits until the service has nothing to do before `deadline`.
  func idle(until deadline: Timestamp) async { await clock.waitForSleeper(until: deadline) }

  func paths() -> [String] { api.log.map(\.request.url.target) }

  func stats() async throws -> OutboxStats { try await service.getStats(nil) }
}

let answers200: ScriptedAPIEndpoint.Rule = { _, _ in .success(APIResponse(status: 200)) }

/// Runs a test with a service that is running, on a folder that may be there already, and checks the outbox after it.
func withService(
  _ rule: @escaping ScriptedAPIEndpoint.Rule = { _, _ in nil }, settings: OutboxSettings = OutboxSettings(),
  refusals: Int = .max, in given: TemporaryFolder? = nil, clock: ManualClock = ManualClock(),
  log: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
  _ body: (ServiceFixture) async throws -> Void
) async throws {
  let folder = given ?? TemporaryFolder()
  defer { if given == nil { folder.remove() } }
  let store = FaultyOutboxStore(
    try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: clock).store)
  let api = ScriptedAPIEndpoint(rule)
  let bearers = ScriptedBearerTokenProvider(subject: Sample.alice, refusals: refusals)
  let (published, counts) = (OutboxEventLog<OutboxEvent>(), OutboxEventLog<OutboxStats>())
  let service = OutboxService(
    store: store, bearers: bearers, api: api,
    access: APIAccess([Sample.work: [Sample.origin, Sample.secondOrigin], Sample.other: [Sample.origin]]),
    clock: clock, settings: settings, log: log, random: { 0 },
    publish: { events, overview in
      events.forEach(published.add)
      counts.add(overview.all)
    })
  let fixture = ServiceFixture(
    folder: folder, store: store, api: api, bearers: bearers, clock: clock, published: published, counts: counts,
    service: service
  )
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { await service.run() }
    await fixture.block("neverSignedIn", knownSubject: nil, account: Sample.other)
    do {
      try await body(fixture)
      await service.shutdown(grace: .zero)
    } catch {
      await service.shutdown(grace: .zero)
      throw error
    }
    try await group.waitForAll()
  }
  #expect(try OutboxCheck.problems(at: folder.file("outbox.sqlite")) == [])
}

/// The calls as clients make them.
extension OutboxService {
  func cancel(_ id: String) async throws -> Int { try await change(id, .cancel) }

  func retry(_ id: String) async throws -> Int { try await change(id, .retry) }

  func cancelAll(_ account: AccountName, in state: OutboxItem.State) async throws -> Int {
    try await changeAll(account, in: state, .cancel)
  }

  func retryAll(_ account: AccountName, in state: OutboxItem.State) async throws -> Int {
    try await changeAll(account, in: state, .retry)
  }

  func pause(_ account: AccountName?) async throws { try await setPaused(account, true) }

  func resume(_ account: AccountName?) async throws { try await setPaused(account, false) }
}

extension Failure {
  static let keyConflict = Failure(
    .idempotencyConflict, "Another item with different content has this idempotency key.", account: Sample.work)

  static func invalidState(_ state: OutboxItem.State, _ reason: OutboxItem.Reason? = nil) -> Failure {
    Failure(.invalidItemState, OutboxStoreFailure.invalidState(state, reason).description)
  }

  static func unavailable(_ why: String, account: AccountName? = nil) -> Failure {
    Failure(.storageUnavailable, "Nothing was accepted: \(why)", account: account)
  }

  func of(item: Int) -> Failure { Failure(kind, message, account: account, item: item) }
}
