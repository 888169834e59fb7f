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
  package func known(_ account: AccountName) async throws(Obstacle) -> KnownAccount {
    await begin()
    defer { end() }
    return try await loaded()[account.description] ?? KnownAccount()
  }

  /// Durable when it returns; unchanged where it throws.
  package func update(_ account: AccountName, to known: KnownAccount) async throws(Obstacle) {
    await begin()
    defer { end() }
    var accounts = try await loaded()
    guard accounts[account.description] != known else { return }
    accounts[account.description] = known
    do {
      try await files.createFolders(file.folder)
      try await file.replace(with: AccountsDocument(accounts).json + [UInt8(ascii: "\n")])
    } catch {
      throw Obstacle(error, at: file.path)
    }
    self.accounts = accounts
  }

  private func loaded() async throws(Obstacle) -> [String: KnownAccount] {
    if let accounts { return accounts }
    let read = try await readFile()
    accounts = read
    return read
  }

  private func readFile() async throws(Obstacle) -> [String: KnownAccount] {
    let contents: FileContents
    do throws(FileError) {
      contents = try await files.read(file.path, limit: 16 << 20, followsLink: false)
      guard contents.status.isOwn else { throw FileError.notOwn }
      if contents.status.isOpenToOthers { try await files.setMode(file.path, to: 0o600) }
    } catch .absent {
      return [:]
    } catch {
      throw Obstacle(error, at: file.path)
    }
    let data = Data(contents.bytes)
    if let version = (try? JSONDecoder().decode(CredentialDocument.Version.self, from: data))?.version,
      version > AccountsDocument.version
    {
      throw Obstacle(.storageError, detail: "\(file.path) was written by a newer version of Hearth")
    }
    guard let accounts = (try? JSONDecoder().decode(AccountsDocument.self, from: data))?.known else {
      try await setAside()
      return [:]
    }
    return accounts
  }

  private func setAside() async throws(Obstacle) {
    do {
      let newPath = try await files.setAside(file.path, as: "corrupt", at: clock.now())
      logger.error("accounts.json cannot be understood and was moved to \(newPath)")
    } catch {
      throw Obstacle(error, at: file.path)
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

extension FileSystem {
  /// Moves a file to a free name beside it and returns that name.
  func setAside(_ path: String, as label: String, at now: Timestamp) async throws(FileError) -> String {
    let stamp = now.description.filter { !"-:.".contains($0) }
    var newPath = "\(path).\(label)-\(stamp)"
    while try await exists(newPath) { newPath += "x" }
    try await rename(path, to: newPath)
    try await syncFolder(path.splitAtLastSlash.folder)
    return newPath
  }

  func exists(_ path: String) async throws(FileError) -> Bool {
    do {
      _ = try await status(path)
      return true
    } catch .absent {
      return false
    }
  }
}

/// The JSON of accounts.json.
private struct AccountsDocument: Codable {
  static let version = 1

  struct Entry: Codable {
    var path: String?
    var marker: String?
    var issuer: String?
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
        subject: known.subject?.id, fingerprint: known.fingerprint?.description,
        lockedByUser: known.lockedByUser ? true : nil, end: known.end.map(EndDocument.init),
        endDetail: known.end?.detail,
        removal: known.removal.map { Removal(fingerprint: $0.fingerprint?.description) },
        leftovers: known.leftovers.isEmpty
          ? nil : known.leftovers.map { Leftover(path: $0.path, fingerprint: $0.fingerprint?.description) })
    }
  }

  /// Nil where something in it is not in form.
  var known: [String: KnownAccount]? {
    guard version == Self.version else { return nil }
    return try? accounts.mapValues { entry in
      var known = KnownAccount()
      if let path = entry.path, let marker = entry.marker {
        known.place = KnownAccount.Place(path: path, marker: marker)
      }
      if let issuer = entry.issuer, let subject = entry.subject {
        known.subject = Subject(issuer: issuer, id: subject)
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
