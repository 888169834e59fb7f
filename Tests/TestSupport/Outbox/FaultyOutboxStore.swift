package import HearthCore
import Synchronization

/// Wraps a store and fails when the test says so, like a full disk or in another way.
package final class FaultyOutboxStore: OutboxStore {
  private let store: any OutboxStore
  private let failure = Mutex<OutboxStoreFailure?>(nil)
  private let beginFailure = Mutex<OutboxStoreFailure?>(nil)
  private let begins = Mutex(0)
  private let meanwhile = Mutex<[Moment: @Sendable () async -> Void]>([:])

  /// A moment before the store is asked, or before its answer is returned.
  package enum Moment {
    case beforeEnqueue, afterEnqueue, beforeChange, afterExchange, afterRecover, afterBind, afterPaused, afterSetPaused
  }

  package init(_ store: any OutboxStore) {
    self.store = store
  }

  package func setFailing(_ failing: Bool) { setFailing(failing ? .unavailable("The disk is full.") : nil) }

  package func setFailing(_ failure: OutboxStoreFailure?) { self.failure.withLock { $0 = failure } }

  /// The error of recording that requests are sent, or nil if that works.
  package func setBeginFailing(_ failure: OutboxStoreFailure?) { beginFailure.withLock { $0 = failure } }

  /// The number of times that a request was about to be sent.
  package var beginCount: Int { begins.withLock(\.self) }

  /// Runs at the next such moment, which waits for it.
  package func once(_ moment: Moment, _ body: @escaping @Sendable () async -> Void) {
    meanwhile.withLock { $0[moment] = body }
  }

  private func pass(_ moment: Moment) async {
    let body = meanwhile.withLock { $0.removeValue(forKey: moment) }
    await body?()
  }

  private func pass() throws(OutboxStoreFailure) {
    if let failure = failure.withLock(\.self) { throw failure }
  }

  package func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) { store.observe(receive) }

  package var isBroken: Bool { store.isBroken }

  package var notice: String? { store.notice }

  package func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure) {
    try pass()
    try await store.recover(pausing: paused)
    await pass(.afterRecover)
  }

  package func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try pass()
    await pass(.beforeEnqueue)
    let receipts = try await store.enqueue(items, within: settings)
    await pass(.afterEnqueue)
    return receipts
  }

  package func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    try pass()
    let exchange = try await store.exchange(settled, releasing: released, claiming: demands)
    await pass(.afterExchange)
    return exchange
  }

  package func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool {
    begins.withLock { $0 += 1 }
    if let failure = beginFailure.withLock(\.self) { throw failure }
    return try store.begin(number, of: claim)
  }

  package func publishCounts() async { await store.publishCounts() }

  package func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try pass()
    return try await store.rehearse(items, within: settings)
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? { try await store.item(id) }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    try await store.list(query)
  }

  package func export(
    _ query: OutboxQuery, bytes: Int
  ) async throws(OutboxStoreFailure) -> ExportPage {
    try await store.export(query, bytes: bytes)
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    try await store.stats(of: account)
  }

  package func change(
    _ id: String, _ change: OutboxChange
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    await pass(.beforeChange)
    try pass()
    return try await store.change(id, change)
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64) {
    try pass()
    return try await store.changeAll(of: account, in: state, change, upTo: place, limit: limit)
  }

  package func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try pass()
    return try await store.free(account, configured: configured, signedIn: signedIn, limit: limit)
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try pass()
    let binding = try await store.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit)
    await pass(.afterBind)
    return binding
  }

  package func purge(
    _ account: AccountName, of subject: Subject?, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try pass()
    return try await store.purge(account, of: subject, limit: limit)
  }

  package func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int {
    try pass()
    return try await store.retryNow(account, limit: limit)
  }

  package func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp? {
    try pass()
    return try await store.expire(limit: limit, by: agreedTime)
  }

  package func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    try pass()
    return try await store.prune(keeping: settings, limit: limit, by: agreedTime)
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    try pass()
    try await store.setPaused(accounts, isPaused)
    await pass(.afterSetPaused)
  }

  package func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName> {
    try pass()
    let paused = try await store.configure(accounts)
    await pass(.afterPaused)
    return paused
  }
}
