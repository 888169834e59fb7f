package import HearthCore
package import Logging

/// One account's credential in a file, with a marker next to it, and what accounts.json remembers about both.
package actor FileCredentialStore: CredentialStore {
  /// The key that was made from a passphrase, and how it was made.
  struct PassphraseKey {
    let kdf: ScryptParameters
    let key: SealingKey
  }

  static let sizeLimit = 1 << 20
  /// How long a file that another program writes in place must be unchanged before it is read.
  static let stillness = Duration.milliseconds(500)

  let account: AccountName
  /// The configured path, before a link is followed.
  let path: String
  let isConfiguredPath: Bool
  let protection: Protection
  let keyFile: KeyFile
  let accounts: AccountsFile
  let files: any FileSystem
  let watch: any FileWatch
  let clock: any Clock
  let logger: Logger
  /// The cost of scrypt for new passphrases, or `nil` for the default.
  let scryptCost: Int?

  var passphraseKey: PassphraseKey?
  /// The file whose next version already has room allocated on the disk.
  var reserved: String?
  /// The status of the file when it was last read or written, to detect a change in place.
  var lastSeen: FileStatus?
  var hasTidied = false
  var wrongPassphrases = WrongPasswords()

  /// If the user chose the path (`isConfiguredPath`), it may be a link, and its folder is not created. `keyFile` is the
  /// path of the key file, for the protection `key-file`.
  package init(
    account: AccountName, path: String, isConfiguredPath: Bool, protection: Protection, keyFile: String?,
    accounts: AccountsFile, files: any FileSystem, watch: any FileWatch, clock: any Clock, logger: Logger,
    scryptCost: Int? = nil
  ) {
    self.account = account
    self.path = path
    self.isConfiguredPath = isConfiguredPath
    self.protection = protection
    self.keyFile = KeyFile(path: keyFile, files: files)
    self.accounts = accounts
    self.files = files
    self.watch = watch
    self.clock = clock
    var logger = logger
    // For people and for the journal's field.
    logger[metadataKey: "account"] = "\(account)"
    logger[metadataKey: "HEARTH_ACCOUNT"] = "\(account)"
    self.logger = logger
    self.scryptCost = scryptCost
  }

  package func remembered() async throws(AccessFailure) -> RememberedAccount {
    let known = try await known()
    return RememberedAccount(
      subject: known.subject, lockedByUser: known.lockedByUser, end: known.end, barred: known.barred,
      clockStep: known.clock.map(accounts.step))
  }

  package func remember(lockedByUser: Bool) async throws(AccessFailure) {
    var known = try await known()
    known.lockedByUser = lockedByUser
    try await accounts.update(account, to: known)
    guard let place = try? await resolvePlace(), case .present(let identifier?)? = try? await place.readMarker(files)
    else { return }
    await markLock(lockedByUser, identifier, at: place)
  }

  package func remember(barred: Fingerprint) async throws(AccessFailure) {
    var known = try await known()
    known.barred = barred
    try await accounts.update(account, to: known)
  }

  /// Returns what accounts.json knows. If it knows nothing, it may have been lost, so the user's lock is read from the
  /// marker.
  func known() async throws(AccessFailure) -> KnownAccount {
    var known = try await accounts.known(account)
    if known == KnownAccount(), let place = try? await resolvePlace() {
      known.lockedByUser = await place.marksLock(files)
    }
    return known
  }

  /// Writes into the marker whether the user has locked the account. If that fails, a later reading repeats it.
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
    return watch.hints(for: [path, marker] + [keyFile.path].compactMap { $0 })
  }

  /// Returns the key for a protection, or `nil` if it has none or comes from a passphrase. Throws `keyUnavailable`.
  func key(for protection: Protection) async throws(AccessFailure) -> SealingKey? {
    switch protection {
    case .none, .passphrase: nil
    case .keyFile: try await keyFile.key()
    case .secretService:
      throw AccessFailure(.keyUnavailable, detail: "protection \"secret-service\" is not available in this version")
    }
  }
}
