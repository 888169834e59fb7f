import FoundationEssentials
package import HearthCore
package import Logging

/// accounts.json: what is remembered of each account, without secrets. One for all accounts of the daemon; nobody else
/// writes it.
package actor AccountsFile {
  private let file: AtomicFile
  private let files: any FileSystem
  private let clock: any Clock
  private let logger: Logger
  /// Nil until it has been read.
  private var accounts: [String: KnownAccount]?
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(path: String, files: any FileSystem, clock: any Clock, logger: Logger) {
    self.file = AtomicFile(path: path, files: files)
    self.files = files
    self.clock = clock
    self.logger = logger
  }

  /// What is known of an account; nothing where it is new.
  package func known(_ account: AccountName) async throws(AccessFailure) -> KnownAccount {
    await begin()
    defer { end() }
    return try await loaded()[account.description] ?? KnownAccount()
  }

  /// Durable when it returns; unchanged where it throws.
  package func update(_ account: AccountName, to known: KnownAccount) async throws(AccessFailure) {
    await begin()
    defer { end() }
    var accounts = try await loaded()
    guard accounts[account.description] != known else { return }
    accounts[account.description] = known
    do {
      try await files.createFolders(file.folder)
      try await file.replace(with: AccountsDocument(accounts).json + [UInt8(ascii: "\n")])
    } catch {
      throw AccessFailure(error, at: file.path)
    }
    self.accounts = accounts
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
    do throws(CredentialFile.Flaw) {
      return try AccountsDocument.known(in: Data(contents.bytes))
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

  /// Calls wait for each other, also across the steps of a write.
  private func begin() async {
    if isBusy {
      await withCheckedContinuation { waiting.append($0) }
    }
    isBusy = true
  }

  private func end() {
    if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
  }
}

extension FileStatus {
  var isOpenToOthers: Bool { mode & 0o077 != 0 }
}

/// The JSON of accounts.json.
private struct AccountsDocument: Codable {
  static let version = 1

  struct Entry: Codable {
    var path: String?
    var marker: String?
    var issuer: String?
    var issuerAssumed: Bool?
    var subject: String?
    var fingerprint: String?
    var lockedByUser: Bool?
    var end: EndDocument?
    /// Here alone: the credential file's form is the contract's.
    var endDetail: String?
    var removal: Removal?
    var leftovers: [Leftover]?
  }

  struct Leftover: Codable {
    var path: String
    var fingerprint: String?
  }

  struct Removal: Codable {
    var fingerprint: String?
  }

  let version: Int
  let accounts: [String: Entry]

  init(_ known: [String: KnownAccount]) {
    version = Self.version
    accounts = known.mapValues { known in
      Entry(
        path: known.place?.path, marker: known.place?.marker, issuer: known.subject?.issuer,
        issuerAssumed: known.subject?.isIssuerAssumed == true ? true : nil,
        subject: known.subject?.id, fingerprint: known.fingerprint?.description,
        lockedByUser: known.lockedByUser ? true : nil, end: known.end.map(EndDocument.init),
        endDetail: known.end?.detail,
        removal: known.removal.map { Removal(fingerprint: $0.fingerprint?.description) },
        leftovers: known.leftovers.isEmpty
          ? nil : known.leftovers.map { Leftover(path: $0.path, fingerprint: $0.fingerprint?.description) })
    }
  }

  static func known(in data: Data) throws(CredentialFile.Flaw) -> [String: KnownAccount] {
    let version = try CredentialFile.decode(CredentialDocument.Version.self, from: data).version
    guard version <= Self.version else { throw .tooNew(version) }
    guard version == Self.version else { throw .corrupt("its version is not a known one") }
    var known: [String: KnownAccount] = [:]
    for (name, entry) in try CredentialFile.decode(Self.self, from: data).accounts { known[name] = try entry.known }
    return known
  }
}

extension AccountsDocument.Entry {
  fileprivate var known: KnownAccount {
    get throws(CredentialFile.Flaw) {
      let entry = self
      var known = KnownAccount()
      if let path = entry.path, let marker = entry.marker {
        known.place = KnownAccount.Place(path: path, marker: marker)
      }
      if let issuer = entry.issuer, let subject = entry.subject {
        known.subject = Subject(
          issuer: issuer, id: subject, isIssuerAssumed: entry.issuerAssumed ?? false)
      }
      known.fingerprint = entry.fingerprint.flatMap { Fingerprint($0) }
      known.lockedByUser = entry.lockedByUser ?? false
      known.end = try entry.end?.record(detail: entry.endDetail)
      known.removal = entry.removal.map {
        KnownAccount.Removal(fingerprint: $0.fingerprint.flatMap { Fingerprint($0) })
      }
      known.leftovers = (entry.leftovers ?? []).map {
        KnownAccount.Leftover(path: $0.path, fingerprint: $0.fingerprint.flatMap { Fingerprint($0) })
      }
      return known
    }
  }
}
