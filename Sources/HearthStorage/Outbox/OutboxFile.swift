internal import CLinux
internal import GRDB
internal import Glibc
internal import HearthCore

/// The outbox's files: the database, its log, the disk reserve, the marks of sent items, and a marker for possible
/// damage.
struct OutboxFile: Sendable {
  let path: String
  /// The id of this boot (see `SentMarks`).
  let bootID: String

  init(_ path: String, bootID: String = SentMarks.bootID()) {
    self.path = path
    self.bootID = bootID
  }

  /// SQLite's default page size, in bytes.
  static let pageSize = 4096

  var reserve: String { path + "-reserve" }
  var sentMarks: String { path + "-sent" }
  private var checkMark: String { path + "-suspect" }

  /// Whether the database file is empty but has been written before. SQLite would consider it new and discard its log.
  /// A database that was never written has no marks and no log next to it.
  var isEmptied: Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else { return false }
    return Self.size(of: sentMarks) > 0 || logSize > 0
  }

  var needsCheck: Bool { access(checkMark, F_OK) == 0 }

  /// Marks the database as possibly damaged, so that it is checked completely before it is opened again.
  func requestCheck() {
    let descriptor = Glibc.open(checkMark, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  func clearCheckRequest() {
    unlink(checkMark)
  }

  /// The identity of the file that is now at the database's path.
  var identity: FileIdentity? { Self.identity(of: path) }
  var logIdentity: FileIdentity? { Self.identity(of: path + "-wal") }

  private static func identity(of path: String) -> FileIdentity? {
    var identity: FileIdentity = [0, 0, 0]
    return hearth_identify_file(AT_FDCWD, path, 0, &identity) == 0 ? identity : nil
  }

  /// Returns whether the path still leads to this file. Returns true if this cannot be determined.
  func holds(_ opened: FileIdentity?) -> Bool { Self.leads(path, to: opened) }

  func holdsLog(_ opened: FileIdentity?) -> Bool { opened == nil || Self.leads(path + "-wal", to: opened) }

  private static func leads(_ path: String, to opened: FileIdentity?) -> Bool {
    errno = 0
    let identity = identity(of: path)
    return identity == opened || identity == nil && ![ENOENT, ENOTDIR].contains(errno)
  }

  /// Removes the marks of sent items and the log of a database that was removed or replaced, so that they are not
  /// mistaken for the new database's.
  func removeRest(of formerLog: FileIdentity?) {
    unlink(sentMarks)
    guard let formerLog, formerLog == logIdentity else { return }
    unlink(path + "-wal")
    unlink(path + "-shm")
  }

  /// The size of the write-ahead log, in bytes.
  var logSize: Int { Self.size(of: path + "-wal") }

  /// Returns by how many bytes the database must grow to contain its log, including the current transaction.
  func unwritten(_ db: Database) throws -> Int {
    let pages = try Int.fetchOne(try db.cachedStatement(sql: "PRAGMA page_count")) ?? 0
    return max(pages * Self.pageSize - Self.size(of: path), 0)
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Opens and migrates the database, and verifies the settings that make commits survive a power loss.
  func open() throws -> DatabaseQueue {
    if let problem = makePrivate(path) { throw OutboxStoreFailure.unavailable("The outbox \(path) \(problem).") }
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = false
    configuration.label = "hearth.outbox"
    configuration.prepareDatabase { db in
      // `auto_vacuum` takes effect only before the first table is created.
      try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = FULL")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
      Self.wipe(db, always: true)
    }
    let database = try DatabaseQueue(path: path, configuration: configuration)
    try database.writeWithoutTransaction { db in
      if try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") != 2 { try db.execute(sql: "VACUUM") }
      guard try !OutboxSchema.isContradictory(db) else {
        throw OutboxStoreFailure.broken(
          "The outbox \(path) is damaged: its list of migrations does not match its tables.")
      }
    }
    try OutboxSchema.migrator.migrate(database)
    try database.writeWithoutTransaction { db in
      let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
      let synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous")
      let vacuum = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum")
      let wiping = try Int.fetchOne(db, sql: "PRAGMA secure_delete")
      guard mode == "wal", synchronous == 2, vacuum == 2, wiping == 1 else {
        throw OutboxStoreFailure.unavailable(
          "Cannot make the outbox \(path) durable: journal_mode \(mode ?? "?"), synchronous \(synchronous ?? -1), "
            + "auto_vacuum \(vacuum ?? -1), secure_delete \(wiping ?? -1).")
      }
    }
    return database
  }

  /// Makes SQLite overwrite deleted content with zeros or, if `always` is false, only if this needs no additional
  /// writes.
  static func wipe(_ db: Database, always: Bool) {
    // All builds of SQLite support this pragma. It returns its value, so it is run as a query.
    _ = try? Row.fetchOne(db, sql: "PRAGMA secure_delete = \(always ? "ON" : "FAST")")
  }

  /// Throws if the path leads to a special file, which could block when opened, or if a newer version of Hearth wrote
  /// the database. Opens the database read-only, so that its log is not checkpointed.
  func refuseUnfit() throws {
    var status = stat()
    if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
      throw OutboxStoreFailure.unavailable("The outbox \(path) is not a regular file. Rename or remove it.")
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    // A database that cannot be read here also fails to open later, so errors are ignored.
    let isNewer = try? DatabaseQueue(path: path, configuration: configuration).read(OutboxSchema.isNewer)
    guard isNewer == true else { return }
    throw OutboxStoreFailure.unavailable(
      "The outbox \(path) was written by a newer version of Hearth and is left unchanged. Update Hearth, or rename "
        + "the file to start a new outbox.")
  }

  /// Renames the database, its log and its marks within their folder, and returns the database's new path.
  func setAside(at now: Timestamp) throws -> String {
    let place = "\(path).broken-\(now.milliseconds)"
    for suffix in ["-wal", "-shm", "-sent", ""] where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, place + suffix) == 0 else {
        throw OutboxStoreFailure.unavailable(
          "Cannot rename the damaged outbox \(path): \(String(cString: strerror(errno))).")
      }
    }
    clearCheckRequest()
    return place
  }
}

/// The device, inode and birth time of a file. The inode alone is not enough, because a new file can reuse an inode
/// immediately.
typealias FileIdentity = [UInt64]

/// Makes a database readable only by its owner, and creates it if it is missing. SQLite uses the same permissions for
/// its log. Returns `nil` on success, otherwise the problem, such as `cannot be opened: Permission denied`.
func makePrivate(_ path: String) -> String? {
  let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
  guard descriptor >= 0 else {
    if errno == ELOOP { return "is a symbolic link; rename or remove it" }
    return "cannot be opened: \(String(cString: strerror(errno)))"
  }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
    return "is not a regular file; rename or remove it"
  }
  return fchmod(descriptor, 0o600) == 0 ? nil : "cannot be made private: \(String(cString: strerror(errno)))"
}

extension OutboxStoreFailure {
  static func full(_ file: OutboxFile) -> OutboxStoreFailure {
    .unavailable("The disk is full, so there is no room for the outbox \(file.path). Free some disk space.")
  }

  /// Converts an SQLite error to a failure with a human-readable message that names `path`.
  init(_ error: any Error, at path: String) {
    switch error {
    case let failure as OutboxStoreFailure: self = failure
    case let error as DatabaseError:
      let said = error.message ?? "\(error.resultCode)"
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .broken("The outbox \(path) is damaged: \(said).")
      case .SQLITE_FULL: self = .full(OutboxFile(path))
      case .SQLITE_IOERR: self = .unavailable("Reading or writing the outbox \(path) failed: \(said).")
      case .SQLITE_BUSY, .SQLITE_LOCKED: self = .unavailable("Another program has locked the outbox \(path): \(said).")
      case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
        self = .unavailable("Cannot open the outbox \(path) for writing: \(said).")
      default: self = .unavailable("Cannot use the outbox \(path): \(said).")
      }
    // Leave out the error, because its description contains whole rows.
    case is RowDecodingError: self = .broken("The outbox \(path) is damaged: a value in it cannot be read.")
    default: self = .unavailable("Cannot use the outbox \(path): \(error).")
    }
  }

  /// Converts an error that occurred while the database was being opened. At that time, a failed statement means that
  /// the tables are damaged.
  init(opening error: any Error, at path: String) {
    self.init(error, at: path)
    if let error = error as? DatabaseError,
      [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA].contains(error.resultCode)
    {
      self = .broken("The outbox \(path) is damaged: \(error.message ?? "\(error.resultCode)").")
    }
  }
}
