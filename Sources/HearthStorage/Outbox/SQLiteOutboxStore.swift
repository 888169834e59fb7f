internal import GRDB
package import HearthCore
internal import HearthThreads
internal import Synchronization

/// Stores the outbox in an SQLite database with a write-ahead log, and syncs every commit to disk.
///
/// If a call finds the database damaged, removed or replaced, this call and all later ones fail until `recover` is
/// called. `recover` checks the database, sets it aside if it is damaged, and opens it or a new one.
package final class SQLiteOutboxStore: OutboxStore {
  private enum Connection {
    case open(GroupCommitter)
    /// All calls fail until `recover` closes `before` and reopens the outbox.
    case closed(OutboxStoreFailure, before: GroupCommitter?)
  }

  private let file: OutboxFile
  private let clock: any Clock
  private let connection: Mutex<Connection>
  /// The highest epoch of any claim on an earlier connection of this process.
  private let lastEpoch = Mutex<Int64>(0)
  private let observer = CommitObserver()
  /// What was lost with a removed or replaced database, if that has not been reported yet.
  private let loss = Mutex<GroupCommitter.Loss?>(nil)
  private let told = Mutex<String?>(nil)
  private let tell: @Sendable (String) -> Void

  private init(_ file: OutboxFile, _ clock: any Clock, tell: @escaping @Sendable (String) -> Void) {
    self.file = file
    self.clock = clock
    connection = Mutex(.closed(.unavailable("The outbox \(file.path) is not open yet."), before: nil))
    self.tell = tell
  }

  /// Opens the outbox, or creates a new one. `setAside` is the new path of a damaged database that was moved away.
  package static func open(
    at path: String, clock: any Clock, bootID: String = SentMarks.bootID()
  ) throws -> (store: SQLiteOutboxStore, setAside: String?) {
    let store = SQLiteOutboxStore(OutboxFile(path, bootID: bootID), clock, tell: { _ in })
    return (store, try store.open(after: nil, pausing: []))
  }

  /// Returns a store for a daemon that can run without its outbox. If the outbox cannot be opened, all calls fail with
  /// the reason, and `recover` tries to open it again. `tell` receives each `notice`.
  package static func openOrWait(
    at path: String, clock: any Clock, tell: @escaping @Sendable (String) -> Void
  ) -> SQLiteOutboxStore {
    let store = SQLiteOutboxStore(OutboxFile(path), clock, tell: tell)
    store.openOrWait(after: nil, pausing: [])
    return store
  }

  private func openOrWait(after former: GroupCommitter?, pausing paused: Set<AccountName>) {
    do {
      let place = try open(after: former, pausing: paused)
      let loss = loss.withLock { $0.take() }
      let notice: String? =
        if let place {
          "The outbox was damaged. It was moved to \(place), and a new one was created."
        } else if let loss {
          "The outbox \(file.path) was removed or replaced while it was open, with \(loss.items) undelivered "
            + "\(loss.items == 1 ? "item" : "items"). Hearth continues with the file that is now at that path."
        } else { nil }
      guard let notice else { return }
      told.withLock { $0 = notice }
      tell(notice)
    } catch {
      let failure = OutboxStoreFailure(opening: error, at: file.path)
      connection.withLock { $0 = .closed(failure, before: nil) }
    }
  }

  package var notice: String? { told.withLock(\.self) }

  /// Opens the database. If a damaged database was set aside, returns its new path.
  private func open(after former: GroupCommitter?, pausing paused: Set<AccountName>) throws -> String? {
    if let former {
      // Close `former` first. If it were closed after the next database was opened, it could remove that database's
      // log, which has the same path.
      if let lost = former.close() { loss.withLock { $0 = lost } }
      lastEpoch.withLock { $0 = max($0, former.claims.lastEpoch) }
    }
    // Check whether the file is back before a new one is created, because a new file could reuse its inode.
    loss.withLock { if let lost = $0, file.holds(lost.identity) { $0 = nil } }
    var setAside: String?
    // This check must come first, because SQLite discards the log of an empty database when it opens the database.
    if file.isEmptied { setAside = try file.setAside(at: clock.now()) }
    try file.refuseUnfit()
    if file.needsCheck {
      if let problems = try? OutboxCheck.problems(at: file.path), problems.isEmpty {
        file.clearCheckRequest()
      } else {
        setAside = try file.setAside(at: clock.now())
      }
    }
    let reserve = DiskReserve(file.reserve)
    let lastEpoch = lastEpoch.withLock(\.self)
    func openDatabase() throws {
      do {
        let committer = try GroupCommitter(
          file, reserve: reserve, observer: observer, clock: clock, after: lastEpoch, pausing: paused)
        connection.withLock { $0 = .open(committer) }
      } catch {
        throw OutboxStoreFailure(opening: error, at: file.path)
      }
    }
    do {
      try openDatabase()
    } catch OutboxStoreFailure.broken {
      setAside = try file.setAside(at: clock.now())
      try openDatabase()
    } catch {
      // If the disk is full, releasing the last run's reserve makes room.
      reserve.release()
      try openDatabase()
    }
    return setAside
  }

  private var committer: GroupCommitter {
    get throws(OutboxStoreFailure) {
      switch connection.withLock({ $0 }) {
      case .open(let committer): return committer
      case .closed(let failure, _): throw failure
      }
    }
  }

  private func run<T: Sendable>(
    _ purpose: GroupCommitter.Purpose = .completion, mayFailHalfway: Bool = false,
    _ body: @escaping @Sendable (OutboxTransaction) throws -> T
  ) async throws(OutboxStoreFailure) -> T {
    let committer = try committer
    do {
      return try await committer.run(purpose, mayFailHalfway: mayFailHalfway, body)
    } catch {
      if case .broken = error {
        connection.withLock { connection in
          guard case .open(let current) = connection, current === committer else { return }
          connection = .closed(error, before: committer)
        }
      }
      throw error
    }
  }

  /// Checkpoints the log and closes the database. Later calls fail.
  package func close() async {
    guard let committer = try? committer else { return }
    await WorkerThread.run { _ = committer.close() }
  }

  package var isBroken: Bool {
    if case .closed(.broken, _) = connection.withLock({ $0 }) { true } else { false }
  }

  /// The number of transactions since the outbox was opened. Concurrent calls can share a transaction.
  package var commits: Int { (try? committer.commits) ?? 0 }

  /// For tests: the number of requests that wait for the next transaction.
  var waitingRequests: Int { (try? committer.waiting) ?? 0 }

  /// For tests: runs `body` directly on the connection.
  func withConnection<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
    try await committer.database.writeWithoutTransaction(body)
  }

  package func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) {
    observer.receive.withLock { $0 = receive }
  }

  package func recover(pausing paused: Set<AccountName>) async throws(OutboxStoreFailure) {
    if case .closed(_, let former) = connection.withLock({ $0 }) {
      // Opening may wait for another program's lock and a check reads the whole database, so both run on a separate
      // thread.
      await WorkerThread.run { self.openOrWait(after: former, pausing: paused) }
    }
    try await run { try $0.recover() }
  }

  package func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try await run(.growth, mayFailHalfway: items.count > 1) {
      try $0.enqueue(items, within: settings)
    }
  }

  package func rehearse(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try await run(.growth, mayFailHalfway: true) { transaction in
      try transaction.savepoint(undoes: true) { try transaction.enqueue(items, within: settings) }
    }
  }

  package func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand]
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    let asked = clock.moment()
    return try await run { try $0.exchange(settled, toldAt: asked, releasing: released, claiming: demands) }
  }

  package func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool {
    try committer.claims.begin(number, of: claim, at: clock.steadyNow())
  }

  package func publishCounts() async {
    // A closed store has no counts to publish, so its error is ignored.
    _ = try? await run(.reading) { $0.effects.touched.formUnion($0.claims.changedOwners()) }
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    try await run(.reading) { transaction in
      try transaction.row(OutboxQueries.byID, [id]).map { try transaction.shown($0) }
    }
  }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    try await run(.reading) { try $0.list(query) }
  }

  package func export(_ query: OutboxQuery, bytes: Int) async throws(OutboxStoreFailure) -> ExportPage {
    try await run(.reading) { try $0.export(query, bytes: bytes) }
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    try await run(.reading) { try $0.stats(of: account) }
  }

  package func change(_ id: String, _ change: OutboxChange) async throws(OutboxStoreFailure) -> OutboxItem {
    try await run { try $0.change(id, change) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64?, limit: Int
  ) async throws(OutboxStoreFailure) -> (count: Int, place: Int64) {
    try await run { transaction in
      let place = place ?? transaction.counters.lastPlace
      return (try transaction.changeAll(of: account, in: state, change, upTo: place, limit: limit), place)
    }
  }

  package func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.free(account, configured: configured, signedIn: signedIn, limit: limit) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try await run { try $0.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit) }
  }

  package func purge(_ account: AccountName, of subject: Subject?, limit: Int) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.purge(account, of: subject, limit: limit) }
  }

  package func retryNow(_ account: AccountName, limit: Int) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.retryNow(account, limit: limit) }
  }

  package func expire(limit: Int, by agreedTime: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp? {
    try await run { try $0.expire(limit: limit, by: agreedTime) }
  }

  package func prune(
    keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    var pruning = try await run { try $0.prune(keeping: settings, limit: limit, by: agreedTime) }
    let committer = try committer
    do {
      let isMore = try await run { try committer.vacuum(in: $0) }
      if isMore { pruning.isMore = true }
    } catch .unavailable {
      // The disk is too full to release free pages, so they stay until the next sweep.
    }
    let leavesContent = try self.committer.leavesContent
    pruning.leavesContent = !pruning.isMore && leavesContent
    return pruning
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    let sql = isPaused ? OutboxQueries.pause : "DELETE FROM pauses WHERE account = ?"
    try await run { transaction in
      for account in accounts { try transaction.execute(sql, [account.description]) }
    }
  }

  package func configure(_ accounts: Set<AccountName>) async throws(OutboxStoreFailure) -> Set<AccountName> {
    let committer = try committer
    return try await run(.reading) { transaction in
      committer.configure(accounts, in: transaction)
      return Set(try String.fetchAll(transaction.db, sql: "SELECT account FROM pauses").compactMap(AccountName.init))
    }
  }
}
