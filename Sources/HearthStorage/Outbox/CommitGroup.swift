internal import GRDB
internal import HearthCore
internal import Synchronization

/// Runs the outbox's transactions: what is asked for while one commits goes together into the next, with one fsync.
///
/// A commit that fails is taken back whole, and each of its parts is tried alone: one bad part fails no other.
final class CommitGroup: Sendable {
  enum Purpose {
    /// Lets the database grow; refused while the reserve on the disk is used up.
    case growth
    /// Goes through on a full disk: the reserve is there for it.
    case settling
  }

  /// One part of a transaction. `attempt` returns what to do once it is durable.
  private struct Part: Sendable {
    let purpose: Purpose
    let attempt: @Sendable (OutboxBooks) throws -> @Sendable () -> Void
    let fail: @Sendable (OutboxStoreFailure) -> Void
  }

  /// A refusal after something was written: the transaction is taken back.
  private struct HalfDone: Error {
    let failure: OutboxStoreFailure
  }

  private struct State {
    var waiting: [Part] = []
    var isRunning = false
  }

  private static let largestGroup = 256

  private let database: DatabaseQueue
  private let reserve: DiskReserve
  private let state = Mutex(State())
  private let ledger: Mutex<OutboxLedger>
  private let suspect: @Sendable () -> Void
  private let committed = Mutex(0)

  /// Transactions so far.
  var commits: Int { committed.withLock { $0 } }

  /// `suspect` is called when the database turns out to be malformed.
  init(
    _ database: DatabaseQueue, ledger: OutboxLedger, reserve: DiskReserve, suspect: @escaping @Sendable () -> Void
  ) {
    self.database = database
    self.ledger = Mutex(ledger)
    self.reserve = reserve
    self.suspect = suspect
  }

  /// Returns once `body` and its commit are done. Not given up when the task is cancelled.
  func run<T: Sendable>(
    _ purpose: Purpose = .settling, _ body: @escaping @Sendable (OutboxBooks) throws -> T
  ) async throws(OutboxStoreFailure) -> T {
    let result: Result<T, OutboxStoreFailure> = await withCheckedContinuation { continuation in
      add(
        Part(purpose: purpose) { books in
          let changes = books.db.totalChangesCount
          do {
            let value = try body(books)
            return { continuation.resume(returning: .success(value)) }
          } catch let failure as OutboxStoreFailure {
            guard books.db.totalChangesCount == changes else { throw HalfDone(failure: failure) }
            return { continuation.resume(returning: .failure(failure)) }
          }
        } fail: { failure in
          continuation.resume(returning: .failure(failure))
        })
    }
    return try result.get()
  }

  private func add(_ part: Part) {
    let starts = state.withLock { state in
      state.waiting.append(part)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { database.asyncWriteWithoutTransaction { self.drain($0) } }
  }

  private func drain(_ db: Database) {
    while true {
      let parts = state.withLock { state in
        let parts = Array(state.waiting.prefix(Self.largestGroup))
        state.waiting.removeFirst(parts.count)
        if parts.isEmpty { state.isRunning = false }
        return parts
      }
      if parts.isEmpty { return }
      commit(parts, in: db)
    }
  }

  private func commit(_ parts: [Part], in db: Database) {
    do {
      let changes = db.totalChangesCount
      try transaction(parts, in: db).forEach { $0() }
      if db.totalChangesCount != changes, !reserve.isHeld { emptyLog(db) }
    } catch {
      guard parts.count == 1, let part = parts.first else {
        for part in parts { commit([part], in: db) }
        return
      }
      retry(part, after: error, in: db)
    }
  }

  private func retry(_ part: Part, after error: any Error, in db: Database) {
    let failure = Self.failure(error)
    if case .broken = failure { suspect() }
    guard part.purpose == .settling, (error as? DatabaseError)?.resultCode == .SQLITE_FULL else {
      return part.fail(failure)
    }
    reserve.release()
    emptyLog(db)
    do {
      try transaction([part], in: db).forEach { $0() }
      emptyLog(db)
    } catch {
      part.fail(Self.failure(error))
    }
  }

  /// Without the reserve the log may not grow until the database has no room to take it in: it is written back after
  /// each commit, and what it took is free again.
  private func emptyLog(_ db: Database) {
    _ = try? db.checkpoint(.truncate)
  }

  private func transaction(_ parts: [Part], in db: Database) throws -> [@Sendable () -> Void] {
    let books = OutboxBooks(db, ledger.withLock { $0 })
    var completions: [@Sendable () -> Void] = []
    try db.inTransaction(.immediate) {
      for part in parts {
        if part.purpose == .growth, !reserve.isHeld, !reserve.hold() {
          completions.append { part.fail(.unavailable("The disk is full.")) }
        } else {
          completions.append(try part.attempt(books))
        }
      }
      try books.ledger.write(to: db)
      return .commit
    }
    ledger.withLock { $0 = books.ledger }
    committed.withLock { $0 += 1 }
    return completions
  }

  static func failure(_ error: any Error) -> OutboxStoreFailure {
    switch error {
    case let failure as OutboxStoreFailure: return failure
    case let half as HalfDone: return half.failure
    case let error as DatabaseError:
      let message = error.message ?? "error \(error.extendedResultCode.rawValue)"
      let isBroken = [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
      return isBroken ? .broken("The outbox cannot be read: \(message).") : .unavailable("The outbox: \(message).")
    default: return .unavailable("The outbox: \(error).")
    }
  }
}
