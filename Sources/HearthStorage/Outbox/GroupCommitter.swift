internal import GRDB
internal import HearthCore
internal import Synchronization

/// Runs the outbox's transactions: what is asked for while one commits goes together into the next, with one fsync.
///
/// A commit that fails is taken back whole, and each of its requests is tried alone: one bad request fails no other.
final class GroupCommitter: Sendable {
  enum Purpose {
    /// Lets the database grow; refused while the reserve on the disk is used up.
    case growth
    /// Goes through on a full disk: the reserve is there for it.
    case settling
  }

  /// One request of a transaction. `attempt` returns what to do once it is durable.
  private struct WriteRequest: Sendable {
    let purpose: Purpose
    let attempt: @Sendable (OutboxTransaction) throws -> @Sendable () -> Void
    let fail: @Sendable (OutboxStoreFailure) -> Void
  }

  /// A refusal after something was written: the transaction is taken back.
  private struct HalfDone: Error {
    let failure: OutboxStoreFailure
  }

  /// Something new would take the room that completions may need.
  private struct NoRoom: Error {}

  /// The path names another file, or none: what is written now would be gone with the process.
  private struct Gone: Error {}

  private struct State {
    var waiting: [WriteRequest] = []
    var isRunning = false
    /// What has been found wrong with the database: it takes in nothing more, and the next start sets it aside.
    var damage: OutboxStoreFailure?
  }

  private static let largestGroup = 256

  let database: DatabaseQueue
  private let file: OutboxFile
  private let identity: OutboxFile.Identity?
  private let reserve: DiskReserve
  private let state = Mutex(State())
  private let ledger: Mutex<OutboxCounters>
  private let committed = Mutex(0)

  /// Transactions so far.
  var commits: Int { committed.withLock { $0 } }

  /// Opens the outbox's database, and makes sure of its reserve as far as there is room.
  init(_ file: OutboxFile, reserve: DiskReserve) throws {
    self.file = file
    self.reserve = reserve
    database = try file.open()
    identity = file.identity
    ledger = Mutex(
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(reserve.size / OutboxFile.pageSize)")
        return try OutboxCheck.soundLedger(db)
      })
    _ = reserve.hold()
  }

  /// Returns once `body` and its commit are done. Not given up when the task is cancelled.
  func run<T: Sendable>(
    _ purpose: Purpose = .settling, _ body: @escaping @Sendable (OutboxTransaction) throws -> T
  ) async throws(OutboxStoreFailure) -> T {
    let result: Result<T, OutboxStoreFailure> = await withCheckedContinuation { continuation in
      add(
        WriteRequest(purpose: purpose) { books in
          let changes = books.db.totalChangesCount
          do {
            let value = try body(books)
            return { continuation.resume(returning: .success(value)) }
          } catch let failure as OutboxStoreFailure {
            if case .broken = failure { throw failure }
            guard books.db.totalChangesCount == changes else { throw HalfDone(failure: failure) }
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
    if starts { database.asyncWriteWithoutTransaction { self.drain($0) } }
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
      try transaction(requests, in: db).forEach { $0() }
      if db.totalChangesCount != changes, !reserve.isHeld || file.logSize > 2 * reserve.size { emptyLog(db) }
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
    if case .broken = failure {
      file.markContested()
      state.withLock { $0.damage = failure }
    }
    guard error is NoRoom || (error as? DatabaseError)?.resultCode == .SQLITE_FULL else { return request.fail(failure) }
    // The log, written back, may be all the room it takes.
    if request.purpose == .settling { reserve.release() }
    emptyLog(db)
    do {
      try transaction([request], in: db).forEach { $0() }
      if !reserve.isHeld { emptyLog(db) }
    } catch {
      request.fail(self.failure(error))
    }
  }

  /// Without the reserve the log may not grow until the database has no room to take it in: it is written back after
  /// each commit, and what it took is free again. The same where bodies have made it large.
  private func emptyLog(_ db: Database) {
    _ = try? db.checkpoint(.truncate)
  }

  private func transaction(_ requests: [WriteRequest], in db: Database) throws -> [@Sendable () -> Void] {
    let books = OutboxTransaction(db, ledger.withLock { $0 })
    var completions: [@Sendable () -> Void] = []
    var isGrowing = false
    try db.inTransaction(.immediate) {
      for request in requests {
        if request.purpose == .growth, let damage = state.withLock({ $0.damage }) {
          completions.append { request.fail(damage) }
        } else if request.purpose == .growth, !reserve.isHeld, !reserve.hold() {
          completions.append { [file] in request.fail(.full(file)) }
        } else {
          isGrowing = isGrowing || request.purpose == .growth
          completions.append(try request.attempt(books))
        }
      }
      try books.ledger.write(to: db)
      if isGrowing, file.identity != identity { throw Gone() }
      // What is only in the log must fit into the database when the disk is full: the reserve is as large.
      if isGrowing, !reserve.hold(try file.unwritten(db)) { throw NoRoom() }
      return .commit
    }
    ledger.withLock { $0 = books.ledger }
    committed.withLock { $0 += 1 }
    return completions
  }

  private func failure(_ error: any Error) -> OutboxStoreFailure {
    switch error {
    case let half as HalfDone: half.failure
    case is NoRoom: .full(file)
    case is Gone:
      .unavailable(
        "The outbox \(file.path) was removed or replaced while it was open: it takes in nothing more until the daemon is "
          + "restarted.")
    default: OutboxStoreFailure(error, at: file.path)
    }
  }
}
