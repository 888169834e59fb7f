package import HearthCore
package import Logging

/// accounts.json: what is remembered of each account, without secrets. All accounts of the daemon share one, and no
/// other program writes it.
package actor AccountsFile {
  private let file: AtomicFile
  private let files: any FileSystem
  private let clock: any Clock
  private let logger: Logger
  /// Nil until it has been read.
  private var accounts: [String: KnownAccount]?
  /// Held for a whole call: the steps of a write suspend.
  private let mutex = AsyncMutex()

  package init(path: String, files: any FileSystem, clock: any Clock, logger: Logger) {
    self.file = AtomicFile(path: path, files: files)
    self.files = files
    self.clock = clock
    self.logger = logger
  }

  /// What is remembered of an account; nothing where it is new.
  package func known(_ account: AccountName) async throws(AccessFailure) -> KnownAccount {
    try await mutex.withLock { () async throws(AccessFailure) in
      try await loaded()[account.description] ?? KnownAccount()
    }
  }

  /// Durable when it returns; unchanged where it throws.
  package func update(_ account: AccountName, to known: KnownAccount) async throws(AccessFailure) {
    try await mutex.withLock { () async throws(AccessFailure) in
      var accounts = try await loaded()
      guard accounts[account.description] != known else { return }
      accounts[account.description] = known
      do throws(FileError) {
        try await files.createFolders(file.folder)
        try await file.replace(with: AccountsDocument.bytes(of: accounts))
      } catch {
        throw AccessFailure(error, at: file.path)
      }
      self.accounts = accounts
    }
  }

  private func loaded() async throws(AccessFailure) -> [String: KnownAccount] {
    if let accounts { return accounts }
    let read = try await readFile()
    accounts = read
    return read
  }

  private func readFile() async throws(AccessFailure) -> [String: KnownAccount] {
    let contents: FileContents
    do throws(FileError) {
      contents = try await files.read(file.path, limit: 16 << 20, followsLink: false)
      guard contents.status.isOwn else { throw FileError.notOwn }
      if contents.status.isOpenToOthers { try await files.setMode(file.path, to: 0o600) }
    } catch .absent {
      return [:]
    } catch {
      throw AccessFailure(error, at: file.path)
    }
    do throws(FileFormatError) {
      return try AccountsDocument.accounts(in: contents.bytes)
    } catch {
      switch error {
      case .tooNew: throw AccessFailure(.storageError, detail: "\(file.path) was written by a newer version of Hearth")
      case .corrupt(let why):
        try await setAside(why: why)
        return [:]
      }
    }
  }

  private func setAside(why: String) async throws(AccessFailure) {
    do {
      let newPath = try await files.setAside(file.path, as: "corrupt", at: clock.now())
      logger.error(
        "accounts.json cannot be understood (\(why)) and was moved to \(newPath).", metadata: ["HEARTH_ERROR": "\(why)"]
      )
    } catch {
      throw AccessFailure(error, at: file.path)
    }
  }
}

extension FileStatus {
  var isOpenToOthers: Bool { mode & 0o077 != 0 }
}
