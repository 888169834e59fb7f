package import HearthCore
package import Logging

/// Stores an account's credential in a file with a marker next to it, and records both in accounts.json.
package actor FileCredentialStore: CredentialStore {
  static let sizeLimit = 1 << 20
  /// How long a file must be unchanged before Hearth uses it, if another program writes it in place.
  static let stillness = Duration.milliseconds(500)

  let account: AccountName
  /// The configured or default path, before links are followed.
  let path: String
  let isConfiguredPath: Bool
  let protection: Protection
  /// The path of the key file for the protection `key-file`. The file is read for each use.
  let keyFile: String?
  let accounts: AccountsFile
  let files: any FileSystem
  let watch: any FileWatch
  let clock: any Clock
  let logger: Logger
  /// The cost of scrypt for new passphrases, or `nil` for the default.
  let scryptCost: Int?

  /// A key derived from a passphrase, with the parameters of the derivation.
  var passphraseKey: (key: SealingKey, kdf: ScryptParameters)?
  /// The credential file's path if disk space has been allocated for its next version, otherwise `nil`.
  var reserved: String?
  /// The file's status when it was last read or written, used to detect changes made in place.
  var lastSeen: FileStatus?
  var hasTidied = false
  var wrongPassphrases = WrongPasswords()

  /// If the user has configured the path (`isConfiguredPath` is true), the path can be a link, and Hearth does not
  /// create its folder.
  package init(
    account: AccountName, path: String, isConfiguredPath: Bool, protection: Protection, keyFile: String?,
    accounts: AccountsFile, files: any FileSystem, watch: any FileWatch, clock: any Clock, logger: Logger,
    scryptCost: Int? = nil
  ) {
    self.account = account
    self.path = path
    self.isConfiguredPath = isConfiguredPath
    self.protection = protection
    self.keyFile = keyFile
    self.accounts = accounts
    self.files = files
    self.watch = watch
    self.clock = clock
    var logger = logger
    // The first key is for people, and the second is for queries of the journal.
    logger[metadataKey: "account"] = "\(account)"
    logger[metadataKey: "HEARTH_ACCOUNT"] = "\(account)"
    self.logger = logger
    self.scryptCost = scryptCost
  }

  package func remembered() async throws(AccessFailure) -> RememberedAccount {
    let known = try await known()
    return RememberedAccount(
      subject: known.subject, lockedByUser: known.lockedByUser, end: known.end, barred: known.barred,
      rejected: known.rejected, clockStep: known.clock.map(accounts.step))
  }

  package func remember(lockedByUser: Bool) async throws(AccessFailure) {
    var known = try await known()
    known.lockedByUser = lockedByUser
    try await accounts.update(account, to: known)
    guard let place = try? await resolvePlace(), case .present(let identifier?)? = try? await place.readMarker(files)
    else { return }
    await markLock(lockedByUser, identifier, at: place)
  }

  package func remember(_ note: TokenNote) async throws(AccessFailure) {
    var known = try await known()
    switch note {
    case .barred(let token): known.barred = token
    case .rejected(let token): known.rejected = token
    }
    try await accounts.update(account, to: known)
  }

  /// Returns what accounts.json contains about the account. If there is nothing, accounts.json may have been lost, so
  /// the user's lock is read from the marker.
  func known() async throws(AccessFailure) -> KnownAccount {
    var known = try await accounts.known(account)
    if known == KnownAccount(), let place = try? await resolvePlace() {
      known.lockedByUser = await place.marksLock(files)
    }
    return known
  }

  /// Records in the marker whether the user has locked the account. A later reading retries after a failure.
  func markLock(_ isLocked: Bool, _ identifier: String, at place: CredentialPlace) async {
    guard await place.marksLock(files) != isLocked else { return }
    let bytes = CredentialPlace.markerBytes(identifier, isLocked: isLocked)
    try? await AtomicFile(path: place.marker, files: files).replace(with: bytes)
  }

  package func lock() async {
    forgetKey()
    if let reserved {
      await AtomicFile(path: reserved, files: files).discard()
      self.reserved = nil
    }
  }

  func forgetKey() {
    passphraseKey?.key.wipe()
    passphraseKey = nil
  }

  package nonisolated func changes() -> AsyncStream<Void> {
    let marker = CredentialPlace(file: path, account: account).marker
    return watch.hints(for: [path, marker] + [keyFile].compactMap { $0 })
  }

  /// Returns the key for a protection, or `nil` for a passphrase or no protection. Throws only `keyUnavailable`.
  func key(for protection: Protection) async throws(AccessFailure) -> SealingKey? {
    switch protection {
    case .none, .passphrase: nil
    case .keyFile: try await files.sealingKey(from: keyFile)
    case .secretService:
      throw AccessFailure(.keyUnavailable, detail: "protection \"secret-service\" is not available in this version")
    }
  }
}
