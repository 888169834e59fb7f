package import HearthCore
import Logging

extension FileCredentialStore {
  /// The least room that is made for the next version of the file, in bytes.
  private static let room = 64 << 10

  package func prepare() async throws(AccessFailure) {
    let look = try await lookForWriting(beginsAnew: true)
    _ = try await sealingKey()
    let file = AtomicFile(path: look.place.file, files: files)
    let room = max(Self.room, 2 * (lastSeen?.size ?? 0))
    // Somebody may have tidied it away since.
    if reserved == look.place.file, let status = try? await files.status(file.aside), status.size >= room { return }
    try await makeFolder(look.place)
    reserved = nil
    do {
      try await file.reserve(bytes: room)
    } catch {
      throw AccessFailure(error, at: file.aside)
    }
    reserved = look.place.file
  }

  package func write(_ credential: Credential) async throws(AccessFailure) {
    let look = try await lookForWriting(beginsAnew: true)
    let bytes = try await self.bytes(of: credential)
    try await makeFolder(look.place)
    try await setAsideUnknown(look)
    try await replace(look.place, with: bytes)
    if case .file(let old) = look.found, old.isGrant, !isProtectedAsTold(old) {
      logger.notice("\(look.place.file) is protected as configured now (\(protection.rawValue)).")
    }
    // What it opened is gone.
    if protection != .passphrase { forgetKey() }
    await remember(look) { known in
      known.subject = credential.subject
      known.fingerprint = credential.grant.accessToken.fingerprint
      known.end = nil
      known.removal = nil
    }
  }

  package func writeEnd(_ record: EndRecord) async throws(EndNotWritten) {
    var unnoted: AccessFailure?
    var known: KnownAccount
    // Here the memory comes first: a refused token must not be sent again, whatever becomes of the file.
    do throws(AccessFailure) {
      known = try await accounts.known(account)
      known.end = record
    } catch {
      throw .nowhere(error)
    }
    do throws(AccessFailure) { try await accounts.update(account, to: known) } catch { unnoted = error }
    do throws(EndNotWritten) {
      try await putEnd(record, known)
    } catch {
      throw unnoted == nil ? .partly(error.accessFailure) : error
    }
    if let unnoted { throw .partly(unnoted) }
  }

  /// Into the credential file. `nowhere`: it stands there as it did.
  private func putEnd(_ record: EndRecord, _ known: KnownAccount) async throws(EndNotWritten) {
    let look: CredentialScan
    do throws(AccessFailure) { look = try await lookForWriting() } catch { throw .nowhere(error) }
    switch look.found {
    case .tooNew: return
    case .file(let file):
      if let grant = try? await grant(in: file, modified: look.modified), !known.isEnded(grant) {
        // The one that the end is about is gone, and this one is to be adopted.
        throw .partly(AccessFailure(.storageError, detail: "another grant is in \(look.place.file) by now"))
      }
    case .corrupt, .nothing: break
    }
    do throws(AccessFailure) {
      try await makeFolder(look.place)
      try await setAsideUnknown(look)
      try await replace(look.place, with: endedFile(record, look).bytes)
      await remember(look) { $0.end = record }
    } catch {
      throw .nowhere(error)
    }
  }

  /// Puts the end in the place of a grant that it is about, after a crash or an obstacle came between.
  func finishEnd(_ record: EndRecord, _ look: CredentialScan, _ header: CredentialFile.Header) async {
    do throws(AccessFailure) {
      try await replace(look.place, with: endedFile(record, look).bytes)
    } catch {
      logger.warning("the end of the session is not yet in the credential file: \(error.detail)")
    }
    await remember(look) { _ in }
  }

  package func setAside() async throws(AccessFailure) -> String {
    let place = try await resolvePlace()
    return try await setAside(place, as: "corrupt")
  }

  private func setAside(_ place: CredentialPlace, as label: String) async throws(AccessFailure) -> String {
    do {
      return try await files.setAside(place.file, as: label, at: clock.now())
    } catch {
      throw AccessFailure(error, at: place.file)
    }
  }

  /// Nothing that is not understood is overwritten.
  private func setAsideUnknown(_ look: CredentialScan) async throws(AccessFailure) {
    switch look.found {
    case .corrupt(let why):
      let newPath = try await setAside(look.place, as: "corrupt")
      tellSetAside("cannot be understood", why, look.place, newPath)
    case .tooNew(let version):
      let newPath = try await setAside(look.place, as: "newer")
      tellSetAside("was written by a newer version of Hearth", "it has format \(version)", look.place, newPath)
    case .file, .nothing: break
    }
  }

  private func tellSetAside(_ what: String, _ why: String, _ place: CredentialPlace, _ newPath: String) {
    logger.warning(
      "\(place.file) \(what) (\(why)) and was moved to \(newPath) before it was written anew.",
      metadata: ["HEARTH_EVENT": "\(EventName.credentialSetAside.rawValue)", "HEARTH_ERROR": "\(why)"])
  }

  /// A look that also makes sure that a file which is there can be read, down to its grant.
  private func lookForWriting(beginsAnew: Bool = false) async throws(AccessFailure) -> CredentialScan {
    let look = try await look(beginsAnew: beginsAnew)
    guard case .file(let file) = look.found, case .sealed = file.body else { return look }
    do {
      _ = try await grant(in: file, modified: look.modified)
      return look
    } catch {
      switch error {
      case .blocked(let accessFailure): throw accessFailure
      case .corrupt(let text): return CredentialScan(place: look.place, known: look.known, found: .corrupt(text))
      }
    }
  }

  private func makeFolder(_ place: CredentialPlace) async throws(AccessFailure) {
    do {
      if isConfiguredPath {
        _ = try await files.status(place.folder)
      } else {
        try await files.createFolders(place.folder)
      }
    } catch {
      throw AccessFailure(error, at: place.folder)
    }
  }

  private func replace(_ place: CredentialPlace, with bytes: [UInt8]) async throws(AccessFailure) {
    guard bytes.count <= Self.sizeLimit else {
      throw AccessFailure(.storageError, detail: "the credential is larger than 1 MiB")
    }
    let isReserved = reserved == place.file
    reserved = nil
    do {
      try await AtomicFile(path: place.file, files: files).replace(with: bytes, isReserved: isReserved)
    } catch {
      throw AccessFailure(error, at: place.file)
    }
    lastSeen = try? await files.status(place.file)
  }

  private func endedFile(_ record: EndRecord, _ look: CredentialScan) -> CredentialFile {
    var header = CredentialFile.Header(
      account: account, subject: look.known.subject, origin: nil, protection: protection)
    if case .file(let file) = look.found {
      header.issuer = file.header.issuer
      header.isIssuerAssumed = file.header.isIssuerAssumed
      header.subject = file.header.subject
      header.origin = file.header.origin
    }
    return CredentialFile(header: header, body: .ended(record))
  }

  private func bytes(of credential: Credential) async throws(AccessFailure) -> [UInt8] {
    let header = CredentialFile.Header(
      account: account, subject: credential.subject, origin: credential.origin, protection: protection)
    guard let (key, kdf) = try await sealingKey() else {
      return CredentialFile(header: header, body: .grant(credential.grant)).bytes
    }
    let plaintext = CredentialFile.bytes(of: credential.grant)
    guard let sealed = Seal.seal(plaintext, with: key, associated: header.associatedData(kdf: kdf)) else {
      throw AccessFailure(.keyUnavailable, detail: "the key was forgotten")
    }
    return CredentialFile(header: header, body: .sealed(CredentialFile.Sealed(kdf: kdf, bytes: sealed))).bytes
  }

  /// The key that the next version is sealed with; nil where the account's credential lies open.
  private func sealingKey() async throws(AccessFailure) -> (key: SealingKey, kdf: ScryptParameters?)? {
    if let source = keySource(for: protection) { return (try await source.key(), nil) }
    guard protection == .passphrase else { return nil }
    guard let held else {
      throw AccessFailure(.passphraseRequired, detail: "a passphrase is needed to seal the credential")
    }
    return (held.key, held.kdf)
  }
}
