package import HearthCore
package import Logging

/// The file accounts.json, which stores what Hearth knows about each account, without secrets. All of the daemon's
/// accounts share the file, and no other program writes it.
package actor AccountsFile {
  private let file: AtomicFile
  private let clock: any Clock
  private let bootID: String
  private let logger: Logger
  /// The accounts in the file, or `nil` until the file is first read.
  private var accounts: [String: KnownAccount]?
  /// Locked for a whole call, because a write suspends between its steps.
  private let mutex = AsyncMutex()

  package init(
    path: String, files: any FileSystem, clock: any Clock, bootID: String = SentMarks.bootID(), logger: Logger
  ) {
    file = AtomicFile(path: path, files: files)
    (self.clock, self.bootID, self.logger) = (clock, bootID, logger)
  }

  /// Returns the clock to record for a grant that was just stored or read, or `nil` if the boot id is unknown.
  nonisolated func clock(of grant: Grant, after known: GrantClock?) -> GrantClock? {
    bootID.isEmpty ? nil : GrantClock(of: grant, after: known, boot: bootID, at: clock.moment())
  }

  /// Returns how far the clock has been stepped since the grant's times were set, or zero after a reboot.
  nonisolated func step(since known: GrantClock) -> ClockStep {
    known.step(to: clock.moment().stepped, boot: bootID)
  }

  /// Returns what is known about an account, or an empty value for a new account.
  package func known(_ account: AccountName) async throws(AccessFailure) -> KnownAccount {
    try await accessing(file.path, await mutex.withLock(loaded))[account.description] ?? KnownAccount()
  }

  /// Replaces what is known about an account. On return, the change is durable. On error, the old value stays in use.
  package func update(_ account: AccountName, to known: KnownAccount) async throws(AccessFailure) {
    try await accessing(file.path, await mutex.withLock { try await keep(known, for: account) })
  }

  private func keep(_ known: KnownAccount, for account: AccountName) async throws {
    var accounts = try await loaded()
    guard accounts[account.description] != known else { return }
    accounts[account.description] = known
    let bytes = FileFormat.encode(AccountsDocument(accounts: accounts)) + [UInt8(ascii: "\n")]
    try await file.files.createFolders(file.folder)
    try await file.replace(with: bytes)
    self.accounts = accounts
  }

  private func loaded() async throws -> [String: KnownAccount] {
    if let accounts { return accounts }
    let read = try await readFile()
    accounts = read
    return read
  }

  private func readFile() async throws -> [String: KnownAccount] {
    guard let contents = try await file.read(limit: 16 << 20) else { return [:] }
    guard contents.status.isOwn else { throw FileError.notOwn }
    if contents.status.isOpenToOthers { try await file.files.setMode(file.path, to: 0o600) }
    do {
      return try FileFormat.decode(
        AccountsDocument.self, version: AccountsDocument.version, from: contents.bytes
      ).accounts
    } catch {
      switch error {
      case .tooNew: throw AccessFailure(.storageError, detail: "\(file.path) was written by a newer version of Hearth")
      case .corrupt(let why):
        let newPath = try await file.setAside(as: "corrupt", at: clock.now())
        logger.error(
          "accounts.json is unreadable (\(why)) and was moved to \(newPath).",
          metadata: ["HEARTH_ERROR": "\(why)"])
        return [:]
      }
    }
  }
}

extension FileStatus {
  var isOpenToOthers: Bool { mode & 0o077 != 0 }
}
