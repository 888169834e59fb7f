package import HearthCore
import Logging

extension FileCredentialStore {
  /// The minimum disk space to allocate for the file's next version, in bytes.
  private static let room = 64 << 10

  package func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn {
    let scan = try await scanForWriting(ignoringSignedOut: true)
    if await holdsOther(scan, than: version) { return .superseded }
    _ = try await sealingKey()
    let file = AtomicFile(path: scan.place.file, files: files)
    let room = max(Self.room, 2 * (lastSeen?.size ?? 0))
    // Another program may have removed the temporary file in the meantime.
    if reserved == scan.place.file, let status = try? await files.status(file.temporaryPath), status.size >= room {
      return .given
    }
    try await makeFolder(scan.place)
    reserved = nil
    try await accessing(file.temporaryPath, await file.reserve(bytes: room))
    reserved = scan.place.file
    return .given
  }

  package func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn {
    let scan = try await scanForWriting(ignoringSignedOut: true)
    if await holdsOther(scan, than: version, nor: credential) { return .superseded }
    let bytes = try await self.bytes(of: credential)
    try await makeFolder(scan.place)
    try await setAsideUnknown(scan)
    try await replace(scan.place, with: bytes)
    if case .success(let old?) = scan.file, !isProtectedAsConfigured(old) {
      logger.notice("\(scan.place.file) is now protected as configured (\(protection.rawValue)).")
    }
    // The version sealed with the passphrase's key has been replaced, so the key is no longer needed.
    if protection != .passphrase { forgetKey() }
    await remember(scan) { known in
      known.signedIn(credential)
      known.clock = accounts.clock(of: credential.grant, after: known.clock)
    }
    return .given
  }

  /// Returns whether the file contains another program's grant that matches neither `version` nor `credential`. Another
  /// program can still replace the file between this check and the rename, because file systems have no
  /// compare-and-swap operation.
  private func holdsOther(
    _ scan: CredentialScan, than version: StoredVersion, nor credential: Credential? = nil
  ) async -> Bool {
    guard case .grant(let marks) = version, case .success(let file?) = scan.file,
      let grant = try? await grant(in: file, modified: scan.modified), !scan.known.isOver(grant),
      !scan.known.grants.isFormer(grant)
    else { return false }
    let found = GrantMarks(grant)
    return found != marks && found != credential.map { GrantMarks($0.grant) }
  }

  package func writeEnd(_ record: EndRecord) async throws(EndNotWritten) {
    var accountsFailure: AccessFailure?
    var known: KnownAccount
    // Write accounts.json first, so that Hearth does not send a rejected token again even if the credential file cannot
    // be written.
    do {
      known = try await accounts.known(account)
      known.end = record
      known.grants.refuse(record.fingerprint)
    } catch {
      throw .nowhere(error)
    }
    do { try await accounts.update(account, to: known) } catch { accountsFailure = error }
    do {
      try await putEnd(record, known)
    } catch {
      throw accountsFailure == nil ? .partly(error.accessFailure) : error
    }
    if let accountsFailure { throw .partly(accountsFailure) }
  }

  /// Writes the end of the session to the credential file, unless a newer version of Hearth wrote the file. Throws
  /// `nowhere` if the file cannot be written, or `partly` if it contains another grant.
  private func putEnd(_ record: EndRecord, _ known: KnownAccount) async throws(EndNotWritten) {
    let scan: CredentialScan
    do { scan = try await scanForWriting() } catch { throw .nowhere(error) }
    switch scan.file {
    case .failure(.tooNew): return
    case .success(let file?):
      if let grant = try? await grant(in: file, modified: scan.modified), !known.isEnded(grant),
        !known.grants.isFormer(grant)
      {
        // Keep this grant, because it replaced the grant that ended and the session still has to adopt it.
        throw .partly(AccessFailure(.storageError, detail: "\(scan.place.file) already contains another grant"))
      }
    case .failure(.corrupt), .success(nil): break
    }
    do {
      try await makeFolder(scan.place)
      try await setAsideUnknown(scan)
      try await replace(scan.place, with: endedFile(record, scan).bytes)
      await remember(scan) { $0.end = record }
    } catch {
      throw .nowhere(error)
    }
  }

  /// Replaces the ended grant in the file with the end of the session. Called if a crash or a failure prevented this
  /// earlier.
  func finishEnd(_ record: EndRecord, _ scan: CredentialScan, _ header: CredentialFile.Header) async {
    do {
      try await replace(scan.place, with: endedFile(record, scan).bytes)
    } catch {
      logger.warning(
        "Hearth cannot write the end of the session to the credential file yet and will retry: \(error.detail)")
    }
    await remember(scan) { _ in }
  }

  package func setAside() async throws(AccessFailure) -> String {
    try await AtomicFile(path: resolvePlace().file, files: files).setAside(as: "corrupt", at: clock.now())
  }

  /// Sets aside a file that Hearth cannot parse, so that it is never overwritten.
  private func setAsideUnknown(_ scan: CredentialScan) async throws(AccessFailure) {
    let (label, problem, why): (String, String, String)
    switch scan.file {
    case .failure(.corrupt(let text)): (label, problem, why) = ("corrupt", "cannot be understood", text)
    case .failure(.tooNew(let version)):
      (label, problem, why) = ("newer", "was written by a newer version of Hearth", "it has format \(version)")
    case .success: return
    }
    let newPath = try await AtomicFile(path: scan.place.file, files: files).setAside(as: label, at: clock.now())
    logger.warning(
      "\(scan.place.file) \(problem) (\(why)) and was moved to \(newPath), so that Hearth can write a new file.",
      metadata: ["HEARTH_EVENT": "\(EventName.credentialSetAside.rawValue)", "HEARTH_ERROR": "\(why)"])
  }

  /// Scans the file. Throws if a sealed grant cannot be opened now. A damaged one counts as a corrupt file.
  private func scanForWriting(ignoringSignedOut: Bool = false) async throws(AccessFailure) -> CredentialScan {
    let scan = try await self.scan(ignoringSignedOut: ignoringSignedOut)
    guard case .success(let file?) = scan.file, case .sealed = file.body else { return scan }
    do {
      _ = try await grant(in: file, modified: scan.modified)
      return scan
    } catch {
      switch error {
      case .blocked(let accessFailure): throw accessFailure
      case .corrupt(let text):
        return CredentialScan(place: scan.place, known: scan.known, file: .failure(.corrupt(text)))
      }
    }
  }

  private func makeFolder(_ place: CredentialPlace) async throws(AccessFailure) {
    if isConfiguredPath {
      _ = try await accessing(place.folder, await files.status(place.folder))
    } else {
      try await accessing(place.folder, await files.createFolders(place.folder))
    }
  }

  private func replace(_ place: CredentialPlace, with bytes: [UInt8]) async throws(AccessFailure) {
    guard bytes.count <= Self.sizeLimit else {
      throw AccessFailure(.storageError, detail: "the credential is larger than 1 MiB")
    }
    let isReserved = reserved == place.file
    reserved = nil
    let file = AtomicFile(path: place.file, files: files)
    try await accessing(file.path, await file.replace(with: bytes, isReserved: isReserved))
    lastSeen = try? await files.status(place.file)
  }

  private func endedFile(_ record: EndRecord, _ scan: CredentialScan) -> CredentialFile {
    var header = CredentialFile.Header(
      account: account, subject: scan.known.subject, origin: nil, protection: protection)
    if case .success(let file?) = scan.file {
      header.issuer = file.header.issuer
      header.isIssuerAssumed = file.header.isIssuerAssumed
      header.subject = file.header.subject
      header.origin = file.header.origin
    }
    return CredentialFile(header: header, body: .ended(record))
  }

  private func bytes(of credential: Credential) async throws(AccessFailure) -> [UInt8] {
    let header = CredentialFile.Header(
      account: account, subject: credential.subject, origin: credential.origin, origins: credential.origins,
      protection: protection)
    guard let (key, kdf) = try await sealingKey() else {
      return CredentialFile(header: header, body: .grant(credential.grant)).bytes
    }
    let plaintext = CredentialFile.bytes(of: credential.grant)
    guard let sealed = key.seal(plaintext, associated: header.associatedData(kdf: kdf)) else {
      throw AccessFailure(.keyUnavailable, detail: "the key is no longer in memory")
    }
    return CredentialFile(header: header, body: .sealed(sealed, kdf: kdf)).bytes
  }

  /// Returns the key for sealing the next version, or `nil` if the credential is not to be sealed.
  private func sealingKey() async throws(AccessFailure) -> (key: SealingKey, kdf: ScryptParameters?)? {
    if let key = try await key(for: protection) { return (key, nil) }
    guard protection == .passphrase else { return nil }
    guard let passphraseKey else {
      throw AccessFailure(.passphraseRequired, detail: "a passphrase is needed to seal the credential")
    }
    return (passphraseKey.key, passphraseKey.kdf)
  }
}
