internal import GRDB
package import HearthCore
internal import HearthThreads
package import Logging
internal import Synchronization

/// Caches responses in an SQLite database. Because this is only a cache, a database that is damaged or from another
/// version is replaced. The file is created when the first response is stored.
package final class SQLiteResponseStore: ResponseStore {
  private let file: ResponseFile
  private let limits: ResponseLimits
  private let logger: Logger
  private let thread = WorkerThread()
  /// Used only on `thread`, as is `lastFailure`.
  private let database = Mutex<DatabaseQueue?>(nil)
  /// The last failure that was logged, so that each failure is logged only once.
  private let lastFailure = Mutex<String?>(nil)

  package init(path: String, limits: ResponseLimits = ResponseLimits(), logger: Logger) {
    file = ResponseFile(path: path)
    self.limits = limits
    self.logger = logger
  }

  package func find(_ key: ResponseKey) async -> StoredResponse? {
    await run(else: nil) { db in
      guard let (id, response) = try ResponseQueries.find(key, in: db) else { return nil }
      try ResponseQueries.touch(id, in: db)
      return response
    }
  }

  package func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async {
    let limits = limits
    await run(creates: true, else: ()) { db in
      try ResponseQueries.remove(key, in: db)
      guard response.size <= min(limits.answer, limits.account), !response.repeats(secrets, at: key.url) else { return }
      try ResponseQueries.insert(response, for: key, in: db)
      try ResponseQueries.makeRoom(in: key.account, limit: limits.account, in: db)
    }
  }

  package func remove(_ key: ResponseKey) async {
    await run(else: ()) { try ResponseQueries.remove(key, in: $0) }
  }

  package func wipe(_ account: AccountName, keeping subject: Subject?) async {
    await wipe { try ResponseQueries.wipe(account, keeping: subject, in: $0) }
  }

  package func wipeAll(but accounts: Set<AccountName>) async {
    await wipe { try ResponseQueries.wipeAll(but: accounts, in: $0) }
  }

  /// Checkpoints the log and closes the database.
  package func close() async {
    await thread.run { self.close(removing: false) }
  }

  // MARK: - On the thread

  /// Runs `body` on the database. Creates a missing database if `creates` is true. Returns `fallback` if there is no
  /// database or the call fails.
  private func run<Value: Sendable>(
    creates: Bool = false, else fallback: Value, _ body: @escaping @Sendable (Database) throws -> Value
  ) async -> Value {
    await thread.run {
      do {
        guard let database = try self.database(creates: creates) else { return fallback }
        let value = try database.write(body)
        self.lastFailure.withLock { $0 = nil }
        return value
      } catch {
        self.log(ResponseFile.sentence(error, self.file.path))
        if ResponseFile.isDamage(error) { self.close(removing: true) }
        return fallback
      }
    }
  }

  /// Runs `body` and truncates the log. If this fails, removes the whole file instead.
  private func wipe(_ body: @escaping @Sendable (Database) throws -> Void) async {
    await thread.run {
      do {
        guard let database = try self.database(creates: false) else { return }
        try database.writeWithoutTransaction { db in
          try body(db)
          // The log still contains the removed content and content that was replaced or evicted earlier.
          try db.checkpoint(.truncate)
        }
        self.lastFailure.withLock { $0 = nil }
      } catch {
        self.log(
          "\(ResponseFile.sentence(error, self.file.path)) Hearth deletes all cached responses, because some of them "
            + "must not be kept.")
        self.close(removing: true)
      }
    }
  }

  private func database(creates: Bool) throws -> DatabaseQueue? {
    if let open = database.withLock(\.self) { return open }
    guard creates || file.exists else { return nil }
    let opened = try file.open { self.log($0) }
    database.withLock { $0 = opened }
    return opened
  }

  private func close(removing removes: Bool) {
    let database = database.withLock { $0.take() }
    if !removes { try? database?.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    try? database?.close()
    if removes, let problem = file.remove() { log(problem) }
  }

  private func log(_ sentence: String) {
    let isNew = lastFailure.withLock { last in
      defer { last = sentence }
      return last != sentence
    }
    if isNew { logger.warning("\(sentence)") }
  }
}
