internal import GRDB
package import HearthCore

/// The outbox in an SQLite database: write-ahead log, an fsync for every commit.
package final class SQLiteOutboxStore: OutboxStore {
  private let group: CommitGroup
  private let database: DatabaseQueue

  private init(_ database: DatabaseQueue, _ group: CommitGroup) {
    self.database = database
    self.group = group
  }

  /// Opens the outbox, or makes a new one. A broken database is set aside whole: `setAside` says where it lies.
  package static func open(
    at path: String, now: Timestamp
  ) throws(OutboxStoreFailure) -> (store: SQLiteOutboxStore, setAside: String?) {
    let file = OutboxFile(path)
    var setAside: String?
    if file.isSuspect {
      if let flaws = try? OutboxCheck.flaws(at: path), flaws.isEmpty {
        file.clear()
      } else {
        setAside = try file.setAside(at: now)
      }
    }
    do {
      return (try SQLiteOutboxStore(file), setAside)
    } catch .broken {
      let place = try file.setAside(at: now)
      return (try SQLiteOutboxStore(file), place)
    } catch {
      throw error
    }
  }

  private convenience init(_ file: OutboxFile) throws(OutboxStoreFailure) {
    do {
      let database = try file.open()
      let ledger = try database.writeWithoutTransaction { db in try OutboxCheck.soundLedger(db) }
      let reserve = DiskReserve(file.path + "-reserve")
      _ = reserve.hold()
      self.init(database, CommitGroup(database, ledger: ledger, reserve: reserve, suspect: { file.markSuspect() }))
    } catch {
      throw CommitGroup.failure(error)
    }
  }

  /// Transactions so far: with many callers at once fewer than their calls.
  package var commits: Int { group.commits }

  /// For tests: the connection itself.
  func withConnection<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await database.writeWithoutTransaction(body)
  }

  package func recover(at now: Timestamp) async throws(OutboxStoreFailure) {
    try await group.run { try $0.recover(at: now) }
  }

  package func enqueue(
    _ items: [NewOutboxItem], limits: OutboxLimits, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxReceipts {
    try await group.run(.growth) { try $0.enqueue(items, limits: limits, at: now) }
  }

  package func settle(
    _ finished: [FinishedDelivery], claims: [OutboxClaim], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxSettlement {
    try await group.run { try $0.settle(finished, claims, at: now) }
  }

  package func item(_ id: String) async throws(OutboxStoreFailure) -> OutboxItem? {
    try await group.run { books in try books.row(OutboxQueries.byID, [id])?.item(in: books.ledger) }
  }

  package func list(_ query: OutboxQuery) async throws(OutboxStoreFailure) -> OutboxPage {
    try await group.run { try $0.list(query) }
  }

  package func stats(of account: AccountName?) async throws(OutboxStoreFailure) -> OutboxStats {
    try await group.run { try $0.stats(of: account) }
  }

  package func change(
    _ id: String, _ change: OutboxChange, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try await group.run { try $0.change(id, change, at: now) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.changeAll(of: account, in: state, change, limit: limit, at: now) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try await group.run { try $0.bind(account, to: subject, adopts: adopts, limit: limit) }
  }

  package func discard(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.discard(account, of: subject, limit: limit, at: now) }
  }

  package func hasten(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.hasten(account, limit: limit, at: now) }
  }

  package func replan(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure) {
    try await group.run { try $0.replan(shift: shift, at: now) }
  }

  package func expire(limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> [OutboxItem] {
    try await group.run { try $0.expire(limit: limit, at: now) }
  }

  package func sweep(
    _ retention: OutboxRetention, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Bool {
    try await group.run { try $0.sweep(retention, limit: limit, at: now) }
  }

  package func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) async throws(OutboxStoreFailure) {
    let sql = isPaused ? "INSERT OR IGNORE INTO pauses VALUES (?)" : "DELETE FROM pauses WHERE account = ?"
    try await group.run { books in
      for account in accounts { try books.execute(sql, [account.description]) }
    }
  }

  package func paused() async throws(OutboxStoreFailure) -> Set<AccountName> {
    try await group.run { books in
      Set(try String.fetchAll(books.db, sql: "SELECT account FROM pauses").compactMap(AccountName.init))
    }
  }
}
