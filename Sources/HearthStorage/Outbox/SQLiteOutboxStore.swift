internal import Dispatch
internal import GRDB
package import HearthCore
internal import Synchronization

/// The outbox in an SQLite database: write-ahead log, an fsync for every commit.
package final class SQLiteOutboxStore: OutboxStore {
  private enum Door {
    case open(GroupCommitter)
    /// Each call is refused; `recover` tries to open it again.
    case shut(OutboxStoreFailure)
  }

  private let file: OutboxFile
  private let door: Mutex<Door>
  private let tellSetAside: @Sendable (String) -> Void

  private init(_ file: OutboxFile, _ door: consuming sending Door, setAside: @escaping @Sendable (String) -> Void) {
    self.file = file
    self.door = Mutex(door)
    tellSetAside = setAside
  }

  /// Opens the outbox, or makes a new one. A broken database is set aside whole: `setAside` says where it lies.
  package static func open(
    at path: String, now: Timestamp
  ) throws(OutboxStoreFailure) -> (store: SQLiteOutboxStore, setAside: String?) {
    let file = OutboxFile(path)
    let (group, setAside) = try openGroup(file, at: now)
    return (SQLiteOutboxStore(file, .open(group)) { _ in }, setAside)
  }

  /// The same for a daemon that goes on without its outbox: where it cannot be opened, each call says why, and each
  /// `recover` tries again. `setAside` is told where a broken database lies.
  package static func openOrWait(
    at path: String, now: Timestamp, setAside: @escaping @Sendable (String) -> Void
  ) -> SQLiteOutboxStore {
    let file = OutboxFile(path)
    let store = SQLiteOutboxStore(file, .shut(.unavailable("The outbox \(path) is not open yet.")), setAside: setAside)
    store.unlock(at: now)
    return store
  }

  private func unlock(at now: Timestamp) {
    do throws(OutboxStoreFailure) {
      let (group, place) = try Self.openGroup(file, at: now)
      door.withLock { $0 = .open(group) }
      if let place { tellSetAside(place) }
    } catch {
      door.withLock { $0 = .shut(error) }
    }
  }

  private static func openGroup(
    _ file: OutboxFile, at now: Timestamp
  ) throws(OutboxStoreFailure) -> (group: GroupCommitter, setAside: String?) {
    try file.refuseNewer()
    var setAside: String?
    if file.isSuspect {
      if let flaws = try? OutboxCheck.flaws(at: file.path), flaws.isEmpty {
        file.clear()
      } else {
        setAside = try file.setAside(at: now)
      }
    }
    let reserve = DiskReserve(file.reserve)
    func openGroup() throws(OutboxStoreFailure) -> GroupCommitter {
      do {
        return try GroupCommitter(file, reserve: reserve)
      } catch {
        throw OutboxStoreFailure(opening: error, at: file.path)
      }
    }
    do {
      return (try openGroup(), setAside)
    } catch .broken {
      let place = try file.setAside(at: now)
      return (try openGroup(), place)
    } catch {
      // On a full disk what the last run has reserved makes room.
      reserve.release()
      return (try openGroup(), setAside)
    }
  }

  private var group: GroupCommitter {
    get throws(OutboxStoreFailure) {
      switch door.withLock({ $0 }) {
      case .open(let group): return group
      case .shut(let failure): throw failure
      }
    }
  }

  /// Transactions so far: with many callers at once fewer than their calls.
  package var commits: Int { (try? group.commits) ?? 0 }

  /// For tests: the connection itself.
  func withConnection<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await group.database.writeWithoutTransaction(body)
  }

  package func recover(at now: Timestamp) async throws(OutboxStoreFailure) {
    if case .shut = door.withLock({ $0 }) {
      // It may wait for a lock of another program.
      await withCheckedContinuation { done in
        DispatchQueue.global().async {
          self.unlock(at: now)
          done.resume()
        }
      }
    }
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

  package func totals() async throws(OutboxStoreFailure) -> OutboxTotals {
    try await group.run { try $0.totals() }
  }

  package func change(
    _ id: String, _ change: OutboxChange, releasing released: [FinishedDelivery], at now: Timestamp
  ) async throws(OutboxStoreFailure) -> OutboxItem {
    try await group.run { try $0.change(id, change, releasing: released, at: now) }
  }

  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.changeAll(of: account, in: state, change, limit: limit, at: now) }
  }

  package func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) async throws(OutboxStoreFailure) -> OutboxBinding {
    try await group.run { try $0.bind(account, to: subject, formerly: former, adopts: adopts, limit: limit) }
  }

  package func discard(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.discard(account, of: subject, limit: limit, at: now) }
  }

  package func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) async throws(OutboxStoreFailure) -> Int {
    try await group.run { try $0.retryNow(account, limit: limit, at: now) }
  }

  package func shiftSchedule(shift: Duration, at now: Timestamp) async throws(OutboxStoreFailure) {
    try await group.run { try $0.shiftSchedule(shift: shift, at: now) }
  }

  package func expire(
    limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> (items: [OutboxItem], OutboxTotals) {
    try await group.run { (try $0.expire(limit: limit, at: now), try $0.totals()) }
  }

  package func prune(
    _ retention: OutboxRetention, limit: Int, at now: Timestamp
  ) async throws(OutboxStoreFailure) -> Bool {
    try await group.run { try $0.prune(retention, limit: limit, at: now) }
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
