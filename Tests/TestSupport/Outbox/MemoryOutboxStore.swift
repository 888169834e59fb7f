package import HearthCore
import Synchronization

/// The outbox in memory: `OutboxModel` behind the port.
package final class MemoryOutboxStore: OutboxStore {
  private struct State {
    var model: OutboxModel
    var receive: (@Sendable (OutboxCommit) -> Void)?
    /// The clock steps that the model has followed.
    var steps: Duration
  }

  private let state: Mutex<State>
  private let clock: any Clock

  package init(_ model: OutboxModel = OutboxModel(), clock: any Clock) {
    state = Mutex(State(model: model, steps: clock.moment().stepped))
    self.clock = clock
  }

  /// The same outbox after the process or the machine has stopped.
  package func reopened(losesPower: Bool = false) -> MemoryOutboxStore {
    var model = state.withLock(\.model)
    model.crash(losesPower: losesPower)
    return MemoryOutboxStore(model, clock: clock)
  }

  package func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) {
    state.withLock { $0.receive = receive }
  }

  /// Changes the model, and has its commits received before the caller gets an answer.
  private func change<Value: Sendable>(
    _ body: (inout OutboxModel, Timestamp) throws(OutboxStoreFailure) -> Value
  ) throws(OutboxStoreFailure) -> Value {
    let result = state.withLock { state in
      let (now, stepped) = clock.moment()
      if stepped != state.steps { state.model.shiftSchedule(by: stepped - state.steps, at: now) }
      state.steps = stepped
      let result = Result { () throws(OutboxStoreFailure) in try body(&state.model, now) }
      for commit in state.model.takeCommits() { state.receive?(commit) }
      return result
    }
    return try result.get()
  }

  package var isBroken: Bool { false }

  package var notice: String? { nil }

  package func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure) {
    try change {
      $0.setPaused(paused, true)
      $0.recover(at: $1)
    }
  }

  package func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try change { (model, now) throws(OutboxStoreFailure) in try model.enqueue(items, within: settings, at: now) }
  }

  package func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    let now = clock.now()
    return try state.withLock { state throws(OutboxStoreFailure) in
      var model = state.model
      return try model.enqueue(items, within: settings, at: now)
    }
  }

  package func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    try change { $0.exchange(settled, releasing: released, claiming: demands, at: $1) }
  }

  package func begin(_ number: Int64, of claim: Int64) -> Bool {
    state.withLock { $0.model.begin(number, of: claim) }
  }

  package func publishCounts() async {
    try? change { (model, _) in model.publishCounts() }
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    state.withLock { $0.model.item(id) }
  }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    state.withLock { $0.model.list(query) }
  }

  package func export(
    _ query: OutboxQuery, bytes: Int
  ) async throws(OutboxStoreFailure) -> ExportPage {
    let now = clock.now()
    return state.withLock { $0.model.export(query, bytes: bytes, at: now) }
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    state.withLock { $0.model.countedStats(of: account) }
  }

  package func change(
    _ id: String, _ change: OutboxChange
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try self.change { (model, now) throws(OutboxStoreFailure) in try model.change(id, change, at: now) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64) {
    try self.change { $0.changeAll(of: account, in: state, change, upTo: place, limit: limit, at: $1) }
  }

  package func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try change { $0.free(account, configured: configured, signedIn: signedIn, limit: limit, at: $1) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try change { $0.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit, at: $1) }
  }

  package func purge(
    _ account: AccountName, of subject: Subject?, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try change { $0.purge(account, of: subject, limit: limit, at: $1) }
  }

  package func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int {
    try change { $0.retryNow(account, limit: limit, at: $1) }
  }

  package func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp? {
    try change { $0.expire(limit: limit, by: agreedTime, at: $1) }
  }

  package func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    try change { (model, _) in model.prune(keeping: settings, limit: limit, by: agreedTime) }
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    try change { (model, _) in model.setPaused(accounts, isPaused) }
  }

  package func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName> {
    try change { (model, _) in model.configure(accounts) }
  }
}
