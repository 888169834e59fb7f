internal import GRDB
package import HearthCore
internal import HearthThreads
internal import Synchronization

/// The outbox in an SQLite database: write-ahead log, an fsync for every commit.
///
/// Where a call meets damage, that call and all later ones fail until `recover` has checked the database, set it aside if
/// it is damaged indeed, and begun a new one.
package final class SQLiteOutboxStore: OutboxStore {
  private enum Connection {
    case open(GroupCommitter)
    /// Each call fails; `recover` opens the outbox again, after it has closed what was open.
    case closed(OutboxStoreFailure, before: GroupCommitter?)
  }

  private let file: OutboxFile
  private let connection: Mutex<Connection>
  private let observer: CommitObserver
  private let reportSetAside: @Sendable (String) -> Void

  private init(
    _ file: OutboxFile, _ connection: consuming sending Connection, _ observer: CommitObserver,
    setAside: @escaping @Sendable (String) -> Void
  ) {
    self.file = file
    self.observer = observer
    self.connection = Mutex(connection)
    reportSetAside = setAside
  }

  /// Opens the outbox, or creates a new one. A damaged database is set aside whole: `setAside` is its new path.
  package static func open(
    at path: String, now: Timestamp
  ) throws(OutboxStoreFailure) -> (store: SQLiteOutboxStore, setAside: String?) {
    try open(OutboxFile(path), now: now)
  }

  static func open(
    _ file: OutboxFile, now: Timestamp
  ) throws(OutboxStoreFailure) -> (store: SQLiteOutboxStore, setAside: String?) {
    let observer = CommitObserver()
    let (committer, setAside) = try openDatabase(file, observer, at: now)
    return (SQLiteOutboxStore(file, .open(committer), observer) { _ in }, setAside)
  }

  /// The same for a daemon that goes on without its outbox: where it cannot be opened, each call fails with the reason,
  /// and each `recover` tries again. `setAside` is called with the new path of a damaged database.
  package static func openOrWait(
    at path: String, now: Timestamp, setAside: @escaping @Sendable (String) -> Void
  ) -> SQLiteOutboxStore {
    let file = OutboxFile(path)
    let store = SQLiteOutboxStore(
      file, .closed(.unavailable("The outbox \(path) is not open yet."), before: nil), CommitObserver(),
      setAside: setAside)
    store.open(after: nil, at: now)
    return store
  }

  private func open(after former: GroupCommitter?, at now: Timestamp) {
    // Otherwise it would end with removing the log that is at its path by then.
    former?.close()
    do throws(OutboxStoreFailure) {
      let (committer, place) = try Self.openDatabase(file, observer, after: former?.claims.lastEpoch ?? 0, at: now)
      connection.withLock { $0 = .open(committer) }
      if let place { reportSetAside(place) }
    } catch {
      connection.withLock { $0 = .closed(error, before: nil) }
    }
  }

  private static func openDatabase(
    _ file: OutboxFile, _ observer: CommitObserver, after epoch: Int64 = 0, at now: Timestamp
  ) throws(OutboxStoreFailure) -> (committer: GroupCommitter, setAside: String?) {
    var setAside: String?
    // First of all: whoever opens it removes its log.
    if file.isEmptied { setAside = try file.setAside(at: now) }
    try file.refuseUnfit()
    if file.needsCheck {
      if let problems = try? OutboxCheck.problems(at: file.path), problems.isEmpty {
        file.clearCheckRequest()
      } else {
        setAside = try file.setAside(at: now)
      }
    }
    let reserve = DiskReserve(file.reserve)
    func openDatabase() throws(OutboxStoreFailure) -> GroupCommitter {
      do {
        return try GroupCommitter(file, reserve: reserve, observer: observer, after: epoch)
      } catch {
        throw OutboxStoreFailure(opening: error, at: file.path)
      }
    }
    do {
      return (try openDatabase(), setAside)
    } catch .broken {
      let place = try file.setAside(at: now)
      return (try openDatabase(), place)
    } catch {
      // On a full disk the reserve of the last run makes room.
      reserve.release()
      return (try openDatabase(), setAside)
    }
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

  /// Writes the log back and closes the database. To be called at the end; calls that come later fail.
  package func close() async {
    guard let committer = try? committer else { return }
    await WorkerThread.run { committer.close() }
  }

  package var isBroken: Bool {
    if case .closed(.broken, _) = connection.withLock({ $0 }) { true } else { false }
  }

  /// The number of transactions so far: with many callers at once smaller than that of their calls.
  package var commits: Int { (try? committer.commits) ?? 0 }

  /// For tests: the requests that wait for the next transaction.
  var waitingRequests: Int { (try? committer.waiting) ?? 0 }

  /// For tests: the connection itself.
  func withConnection<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await committer.database.writeWithoutTransaction(body)
  }

  package func observe(_ receive: @escaping @Sendable (OutboxCommit) -> Void) {
    observer.set(receive)
  }

  package func recover(at now: Timestamp) async throws(OutboxStoreFailure) {
    if case .closed(_, let former) = connection.withLock({ $0 }) {
      // Opening may wait for a lock of another program, and a check reads all of it.
      await WorkerThread.run { self.open(after: former, at: now) }
    }
    try await run { try $0.recover(at: now) }
  }

  package func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> [OutboxReceipt] {
    try await run(.growth, mayFailHalfway: items.count > 1) {
      try $0.enqueue(items, within: settings, at: now)
    }
  }

  package func known(_ items: [NewOutboxItem]) async throws(OutboxStoreFailure) -> [OutboxItem?] {
    try await run { try $0.known(items) }
  }

  package func exchange(
    _ settled: [Settlement], releasing released: [Int64], claiming demands: [OutboxDemand], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxExchange {
    try await run { try $0.exchange(settled, releasing: released, claiming: demands, at: now) }
  }

  package func begin(_ number: Int64, of claim: Int64) throws(OutboxStoreFailure) -> Bool {
    try committer.claims.begin(number, of: claim)
  }

  package func publishCounts() async {
    // A store that is closed has no counts.
    _ = try? await run { $0.effects.touched.formUnion($0.claims.changedOwners()) }
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    try await run { transaction in
      try transaction.row(OutboxQueries.byID, [id]).map(transaction.shown)
    }
  }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    try await run { try $0.list(query) }
  }

  package func export(
    _ query: OutboxQuery, bytes: Int, at moment: Timestamp
  ) async throws(OutboxStoreFailure) -> ExportPage {
    try await run { try $0.export(query, bytes: bytes, at: moment) }
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    try await run { try $0.stats(of: account) }
  }

  package func change(
    _ id: String, _ change: OutboxChange, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try await run { try $0.change(id, change, at: now) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.changeAll(of: account, in: state, change, limit: limit, at: now) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try await run { try $0.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit, at: now) }
  }

  package func purge(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.purge(account, of: subject, limit: limit, at: now) }
  }

  package func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int {
    try await run { try $0.retryNow(account, limit: limit, at: now) }
  }

  package func shiftSchedule(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure) {
    try await run { try $0.shiftSchedule(shift: shift, at: now) }
  }

  package func expire(limit: Int, at now: Timestamp?) async throws(OutboxStoreFailure) -> Timestamp? {
    try await run { try $0.expire(limit: limit, at: now) }
  }

  package func prune(
    keeping settings: OutboxSettings, limit: Int, at now: Timestamp?
  ) async throws(OutboxStoreFailure) -> OutboxPruning {
    try await run { try $0.prune(keeping: settings, limit: limit, at: now) }
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    let sql = isPaused ? "INSERT OR IGNORE INTO pauses VALUES (?)" : "DELETE FROM pauses WHERE account = ?"
    try await run { transaction in
      for account in accounts { try transaction.execute(sql, [account.description]) }
    }
  }

  package func paused() async throws(OutboxStoreFailure) -> Set<AccountName> {
    try await run { transaction in
      Set(try String.fetchAll(transaction.db, sql: "SELECT account FROM pauses").compactMap(AccountName.init))
    }
  }
}
