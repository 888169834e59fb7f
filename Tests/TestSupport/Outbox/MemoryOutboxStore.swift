package import HearthCore
import Synchronization

/// The outbox in memory: `OutboxModel` behind the port.
package final class MemoryOutboxStore: OutboxStore {
  private struct State {
    var model: OutboxModel
    var receive: (@Sendable (OutboxCommit) -> Void)?
  }

  private let state: Mutex<State>

  package init(_ model: OutboxModel = OutboxModel()) {
    state = Mutex(State(model: model))
  }

  /// The same outbox after the end of the process, or of the machine.
  package func reopened(losesPower: Bool = false) -> MemoryOutboxStore {
    var model = state.withLock(\.model)
    model.crash(losesPower: losesPower)
    return MemoryOutboxStore(model)
  }

  package func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) {
    state.withLock { $0.receive = receive }
  }

  /// Changes the model, and has its commits received before anybody is answered.
  private func change<Value: Sendable>(
    _ body: (inout OutboxModel) throws(OutboxStoreFailure) -> Value
  ) throws(OutboxStoreFailure) -> Value {
    let result = state.withLock { state in
      let result = Result { () throws(OutboxStoreFailure) in try body(&state.model) }
      for commit in state.model.takeCommits() { state.receive?(commit) }
      return result
    }
    return try result.get()
  }

  package var isBroken: Bool { false }

  package func recover(at now: Timestamp) async throws(OutboxStoreFailure) { try change { $0.recover(at: now) } }

  package func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try change { (model) throws(OutboxStoreFailure) in try model.enqueue(items, within: settings, at: now) }
  }

  package func known(_ items: [NewOutboxItem]) async throws(OutboxStoreFailure) -> [OutboxItem?] {
    try state.withLock { state throws(OutboxStoreFailure) in try state.model.known(items) }
  }

  package func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    try change { $0.exchange(settled, releasing: released, claiming: demands, at: now) }
  }

  package func begin(_ number: Int64, of claim: Int64) -> Bool {
    state.withLock { $0.model.begin(number, of: claim) }
  }

  package func publishCounts() async {
    try? change { $0.publishCounts() }
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    state.withLock { $0.model.item(id) }
  }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    state.withLock { $0.model.list(query) }
  }

  package func export(
    _ query: OutboxQuery, bytes: Int, at moment: Timestamp
  ) async throws(OutboxStoreFailure) -> ExportPage {
    state.withLock { $0.model.export(query, bytes: bytes, at: moment) }
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    state.withLock { $0.model.countedStats(of: account) }
  }

  package func change(
    _ id: String, _ change: OutboxChange, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try self.change { (model) throws(OutboxStoreFailure) in try model.change(id, change, at: now) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try self.change { $0.changeAll(of: account, in: state, change, limit: limit, at: now) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try change { $0.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit, at: now) }
  }

  package func purge(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try change { $0.purge(account, of: subject, limit: limit, at: now) }
  }

  package func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int {
    try change { $0.retryNow(account, limit: limit, at: now) }
  }

  package func shiftSchedule(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure) {
    try change { $0.shiftSchedule(shift: shift, at: now) }
  }

  package func expire(limit: Int, at now: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp? {
    try change { $0.expire(limit: limit, at: now) }
  }

  package func prune(
    keeping settings: OutboxSettings, limit: Int, at now: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    try change { $0.prune(keeping: settings, limit: limit, at: now) }
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    try change { $0.setPaused(accounts, isPaused) }
  }

  package func paused() async throws(OutboxStoreFailure) -> Set<AccountName> {
    state.withLock { $0.model.pausedAccounts }
  }
}
