internal import GRDB
internal import HearthCore

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
