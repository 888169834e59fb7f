package import HearthCore
package import Logging

/// One account's credential in a file, its marker beside it, and what accounts.json remembers of both.
package actor FileCredentialStore: CredentialStore {
  /// A passphrase's key, and how it was made.
  struct HeldKey {
    let kdf: ScryptParameters
    let key: SealingKey
  }

  static let sizeLimit = 1 << 20
  /// How long a file that is written in place must have been left alone before it is believed.
  static let stillness = Duration.milliseconds(500)

  let account: AccountName
  /// As configured, before a link is followed.
  let path: String
  let isConfiguredPath: Bool
  let protection: Protection
  let keyFile: KeyFile
  let accounts: AccountsFile
  let files: any FileSystem
  let watch: any FileWatch
  let clock: any Clock
  let logger: Logger
  /// The cost of scrypt for new passphrases.
  let scryptCost: Int

  var held: HeldKey?
  /// The file whose next version has its room on the disk already.
  var reserved: String?
  /// The file as it was last read or written, to know a change in place.
  var lastSeen: FileStatus?
  var hasTidied = false
  var wrongPassphrases = 0
  /// On the clock as if it had never been set.
  var nextPassphraseAt: Timestamp?

  /// `isConfiguredPath`: whether the path is the user's own choice; then it may be a link, and its folder is not made.
  /// `keyFile`: the file of the key where the protection is `key-file`.
  package init(
    account: AccountName, path: String, isConfiguredPath: Bool, protection: Protection, keyFile: String?,
    accounts: AccountsFile, files: any FileSystem, watch: any FileWatch, clock: any Clock, logger: Logger,
    scryptCost: Int = 131_072
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
    let known = try await accounts.known(account)
    return RememberedAccount(subject: known.subject, lockedByUser: known.lockedByUser, end: known.end)
  }

  package func remember(lockedByUser: Bool) async throws(AccessFailure) {
    var known = try await accounts.known(account)
    known.lockedByUser = lockedByUser
    try await accounts.update(account, to: known)
  }

  package func lock() async {
    forgetKey()
    if let reserved {
      await AtomicFile(path: reserved, files: files).discard()
      self.reserved = nil
    }
  }

  func forgetKey() {
    held?.key.wipe()
    held = nil
  }

  package nonisolated func changes() -> AsyncStream<Void> {
    let marker = CredentialPlace(file: path, account: account).marker
    return watch.hints(for: [path, marker] + [keyFile.path].compactMap { $0 })
  }

  /// Where keys that nobody enters come from, by what a file or the configuration says.
  func keySource(for protection: Protection) -> (any KeySource)? {
    switch protection {
    case .none, .passphrase: nil
    case .keyFile: keyFile
    case .secretService: SecretServiceKey()
    }
  }
}
