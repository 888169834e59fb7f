internal import GRDB
internal import HearthCore
internal import HearthThreads
internal import Synchronization

/// Runs the outbox's transactions. Requests that arrive during a commit share the next transaction and its fsync.
///
/// If a commit fails, it is rolled back as a whole and each request is retried in a separate transaction, so that one
/// bad request does not make the others fail. A request that can fail after writing something has its own savepoint.
final class GroupCommitter: Sendable {
  enum Purpose {
    /// The request can make the database grow. It fails if the disk has no room for the reserve.
    case growth
    /// The request runs even on a full disk, by using the reserve.
    case completion
    /// The request does not depend on the time. It runs even if the schedule cannot be adjusted to the clock.
    case reading
  }

  /// A request in a transaction. `attempt` returns the closure to call once the transaction is durable.
  private struct WriteRequest: Sendable {
    let purpose: Purpose
    let attempt: @Sendable (OutboxTransaction) throws -> @Sendable () -> Void
    let fail: @Sendable (OutboxStoreFailure) -> Void
  }

  /// The reason why a commit is rolled back.
  private enum Obstacle: Error {
    /// The commit would use disk space that completions may need.
    case reserveExceeded
    /// The path of the database or its log now leads to a different file or to no file. Anything written now would be
    /// lost when the database is closed.
    case fileReplaced(isLog: Bool)
  }

  private static let largestGroup = 256
  private static let keptFreePages = 256

  private let thread = WorkerThread()
  let database: DatabaseQueue
  private let file: OutboxFile
  private let identity: FileIdentity?
  private let logIdentity: FileIdentity?
  private let reserve: DiskReserve
  private let state = Mutex<(waiting: [WriteRequest], isRunning: Bool)>(([], false))
  /// The counters as stored on disk, or `nil` during a transaction and after a failed one.
  private let counters: Mutex<OutboxCounters?>
  private let configured = Mutex<Set<AccountName>?>(nil)
  let claims: ClaimTable
  private let observer: CommitObserver
  private let clock: any Clock
  /// The boot and the clock's steps when the database was opened.
  private let opened: (boot: String, stepped: Duration)
  private let committed = Mutex(0)
  /// Whether free pages may contain content that could not be wiped for lack of space. Initially true, because an
  /// earlier run may have left such pages.
  private let holdsUnwiped = Mutex(true)

  /// The number of requests that wait for the next transaction.
  var waiting: Int { state.withLock { $0.waiting.count } }

  var commits: Int { committed.withLock { $0 } }

  /// Opens the outbox's database, and allocates its reserve if the disk has room. New claims have epochs after
  /// `lastEpoch`. Also pauses the accounts in `paused`, because a new database does not know that they are paused.
  init(
    _ file: OutboxFile, reserve: DiskReserve, observer: CommitObserver, clock: any Clock, after lastEpoch: Int64,
    pausing paused: Set<AccountName>
  ) throws {
    self.file = file
    self.reserve = reserve
    self.observer = observer
    self.clock = clock
    let opened = (boot: file.bootID, stepped: clock.moment().stepped)
    self.opened = opened
    database = try file.open()
    identity = file.identity
    counters = Mutex(
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(reserve.size / OutboxFile.pageSize)")
        for account in paused { try db.execute(sql: OutboxQueries.pause, arguments: [account.description]) }
        var counters = try OutboxCheck.soundCounters(db)
        counters.skipPlaces(to: lastEpoch)
        counters.opened(by: opened)
        return counters
      })
    logIdentity = file.logIdentity
    claims = ClaimTable(try SentMarks(file.sentMarks, bootID: file.bootID))
    // If an earlier process or connection has left claims, `recover` must first read their marks and end them.
    let hasClaims = try database.writeWithoutTransaction { db in
      try db.firstRow(OutboxQueries.everyClaim) { _ in true } ?? false
    }
    if !hasClaims { claims.openForClaims() }
    _ = reserve.allocate()
  }

  /// Runs `body` in a transaction, and returns once it is committed, even if the task is cancelled. If `mayFailHalfway`
  /// is true, `body` can throw after it has written something.
  func run<T: Sendable>(
    _ purpose: Purpose = .completion, mayFailHalfway: Bool = false,
    _ body: @escaping @Sendable (OutboxTransaction) throws -> T
  ) async throws(OutboxStoreFailure) -> T {
    let result: Result<T, OutboxStoreFailure> = await withCheckedContinuation { continuation in
      add(
        WriteRequest(purpose: purpose) { transaction in
          let changes = transaction.db.totalChangesCount
          do {
            let value = try mayFailHalfway ? transaction.savepoint { try body(transaction) } : body(transaction)
            return { continuation.resume(returning: .success(value)) }
          } catch let failure as OutboxStoreFailure {
            if case .broken = failure { throw failure }
            // If the request has written something, the transaction must be rolled back.
            guard mayFailHalfway || transaction.db.totalChangesCount == changes else { throw failure }
            return { continuation.resume(returning: .failure(failure)) }
          }
        } fail: { failure in
          continuation.resume(returning: .failure(failure))
        })
    }
    return try result.get()
  }

  private func add(_ request: WriteRequest) {
    let starts = state.withLock { state in
      state.waiting.append(request)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { thread.enqueue { self.database.writeWithoutTransaction { self.drain($0) } } }
  }

  private func drain(_ db: Database) {
    while true {
      let requests = state.withLock { state in
        let requests = Array(state.waiting.prefix(Self.largestGroup))
        state.waiting.removeFirst(requests.count)
        if requests.isEmpty { state.isRunning = false }
        return requests
      }
      if requests.isEmpty { return }
      commit(requests, in: db)
    }
  }

  private func commit(_ requests: [WriteRequest], in db: Database) {
    do {
      let changes = db.totalChangesCount
      let (completions, leavesContent) = try transaction(requests, in: db)
      let hasGrown = db.totalChangesCount != changes && (!reserve.isAllocated || file.logSize > 2 * reserve.size)
      if leavesContent || hasGrown { emptyLog(db) }
      completions.forEach { $0() }
    } catch {
      guard requests.count == 1, let request = requests.first else {
        for request in requests { commit([request], in: db) }
        return
      }
      retry(request, after: error, in: db)
    }
  }

  private func retry(_ request: WriteRequest, after error: any Error, in db: Database) {
    let failure = failure(error)
    if case .broken = failure, !(error is Obstacle) { file.requestCheck() }
    switch error {
    case Obstacle.reserveExceeded, DatabaseError.SQLITE_FULL: break
    default: return request.fail(failure)
    }
    // Releasing the reserve and checkpointing the log may free enough space for another attempt.
    if request.purpose == .completion { reserve.release() }
    emptyLog(db)
    // Recording a delivery is more important than wiping content from free pages, which can need extra space.
    OutboxFile.wipe(db, always: false)
    holdsUnwiped.withLock { $0 = true }
    defer { OutboxFile.wipe(db, always: true) }
    do {
      try transaction([request], in: db).completions.forEach { $0() }
      if !reserve.isAllocated { emptyLog(db) }
    } catch {
      request.fail(self.failure(error))
    }
  }

  /// Copies the log into the database and truncates the log. While the reserve is not allocated, this happens after
  /// each change, so that the database always has room for the log's pages. It also happens when the log has become
  /// large, and after content was removed, because the log may still contain this content.
  private func emptyLog(_ db: Database) {
    _ = try? db.checkpoint(.truncate)
  }

  /// Releases free pages to the file system, but keeps some for the next items unless free pages may contain removed
  /// content. Limits the number of pages, because each freed page can cause four page writes to the log, and the log
  /// must not outgrow the reserve. Returns whether there is more to do.
  func vacuum(in transaction: OutboxTransaction) throws -> Bool {
    let kept = holdsUnwiped.withLock { $0 ? 0 : Self.keptFreePages }
    let surplus = (try Int.fetchOne(transaction.db, sql: "PRAGMA freelist_count") ?? 0) - kept
    let most = reserve.size / OutboxFile.pageSize / 4
    if surplus > 0 {
      _ = try Row.fetchAll(transaction.db, sql: "PRAGMA incremental_vacuum(\(min(surplus, most)))")
      // The database shrinks only when the log is checkpointed, so request a checkpoint.
      transaction.effects.leavesContentInLog = true
    }
    if surplus <= most { transaction.afterCommit.append { self.holdsUnwiped.withLock { $0 = false } } }
    return surplus > most
  }

  /// Whether the files may still contain removed content.
  var leavesContent: Bool { holdsUnwiped.withLock(\.self) || file.logSize > 0 }

  /// What was lost when a database was removed or replaced while it was open.
  typealias Loss = (identity: FileIdentity?, items: Int)

  /// Closes the database, after which all requests fail. Returns the loss if the database was removed or replaced.
  @discardableResult
  func close() -> Loss? {
    // Checkpoint the log into its own database file, wherever that file is now.
    database.writeWithoutTransaction { emptyLog($0) }
    guard file.holds(identity) else {
      let items = database.writeWithoutTransaction { (try? OutboxCounters($0))?.keptItems ?? 0 }
      try? database.close()
      file.removeRest(of: logIdentity)
      return (identity, items)
    }
    try? database.close()
    return nil
  }

  private func transaction(
    _ requests: [WriteRequest], in db: Database
  ) throws -> (completions: [@Sendable () -> Void], leavesContent: Bool) {
    let transaction = OutboxTransaction(db, try takeCounters(db), claims, at: clock.moment(), boot: file.bootID)
    claims.open()
    let completions: [@Sendable () -> Void]
    let commit: OutboxCommit
    do {
      (completions, commit) = try run(requests, in: transaction)
    } catch {
      claims.undo()
      claims.countsAreLost(of: transaction.effects.touched)
      throw error
    }
    claims.keep()
    counters.withLock { $0 = transaction.counters }
    committed.withLock { $0 += 1 }
    transaction.afterCommit.forEach { $0() }
    observer(commit)
    return (completions, transaction.effects.leavesContentInLog)
  }

  /// Moves the counters out of their mutex, so that changes need no copy, or reads them from the database.
  private func takeCounters(_ db: Database) throws -> OutboxCounters {
    if let known = counters.withLock({ $0.take() }) { return known }
    var counters = try OutboxCounters(db)
    counters.configured = configured.withLock(\.self)
    counters.opened(by: opened)
    return counters
  }

  private func run(
    _ requests: [WriteRequest], in transaction: OutboxTransaction
  ) throws -> ([@Sendable () -> Void], OutboxCommit) {
    var completions: [@Sendable () -> Void] = []
    var commit = OutboxCommit()
    var isGrowing = false
    try transaction.db.inTransaction(.immediate) {
      for request in requests {
        if request.purpose == .growth, !reserve.isAllocated, !reserve.allocate() {
          let failure = reserve.failure(of: file)
          completions.append { request.fail(failure) }
        } else {
          isGrowing = isGrowing || request.purpose == .growth
          if request.purpose != .reading { try transaction.bringInStep() }
          completions.append(try request.attempt(transaction))
        }
      }
      try transaction.counters.write(to: transaction.db)
      if observer.isThere { commit = try transaction.commit() }
      guard file.holds(identity) else { throw Obstacle.fileReplaced(isLog: false) }
      guard file.holdsLog(logIdentity) else { throw Obstacle.fileReplaced(isLog: true) }
      // Even on a full disk, the log must fit into the database at the next checkpoint, so the reserve covers the
      // database's growth.
      if isGrowing, !reserve.allocate(try file.unwritten(transaction.db)) { throw Obstacle.reserveExceeded }
      return .commit
    }
    return (completions, commit)
  }

  /// Sets the configured accounts. Undelivered items of other accounts are shown as held from now on.
  func configure(_ accounts: Set<AccountName>, in transaction: OutboxTransaction) {
    configured.withLock { $0 = accounts }
    transaction.counters.configured = accounts
    transaction.effects.touched.formUnion(transaction.counters.owners.keys)
  }

  private func failure(_ error: any Error) -> OutboxStoreFailure {
    switch error {
    case Obstacle.reserveExceeded: reserve.failure(of: file)
    case Obstacle.fileReplaced(let isLog):
      .broken("The \(isLog ? "log of the " : "")outbox \(file.path) was removed or replaced while it was open.")
    default: OutboxStoreFailure(error, at: file.path)
    }
  }
}

/// The receiver of all commits that are not empty. It can be set before or after the database is opened.
final class CommitObserver: Sendable {
  let receive = Mutex<(@Sendable (OutboxCommit) -> Void)?>(nil)

  var isThere: Bool { receive.withLock { $0 != nil } }

  func callAsFunction(_ commit: OutboxCommit) {
    guard !commit.isEmpty, let receive = receive.withLock(\.self) else { return }
    receive(commit)
  }
}
