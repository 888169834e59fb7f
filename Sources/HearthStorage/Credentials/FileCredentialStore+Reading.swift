package import HearthCore
import Logging

extension FileCredentialStore {
  /// Why a grant in a file could not be had.
  enum OpenFailure: Error {
    case blocked(AccessFailure)
    case corrupt(String)
  }

  package func read() async -> CredentialReading {
    do throws(AccessFailure) {
      let look = try await look()
      await tidy(look.place)
      return try await reading(of: look)
    } catch {
      return .unreadable(error)
    }
  }

  private func reading(of look: CredentialScan) async throws(AccessFailure) -> CredentialReading {
    let known = look.known
    switch look.found {
    case .corrupt(let text):
      if let end = try await finishRemoval(known) { return .ended(end) }
      return .corrupt(text)
    case .tooNew(let version):
      if let end = try await finishRemoval(known) { return .ended(end) }
      return .tooNew(version: version)
    case .nothing(let missing):
      if let end = try await finishRemoval(known) { return .ended(end) }
      if known.place == nil, known.end?.reason == .signedOut {
        // What a crash after a sign-out left.
        try? await files.removeFile(look.place.marker)
        var done = known
        done.leftovers = await takeAway(known.leftovers, besides: look.place).rest
        try? await accounts.update(account, to: done)
      }
      if let end = known.end { return .ended(end) }
      return missing.map { .missing($0) } ?? .neverSignedIn
    case .file(let file):
      return try await reading(of: file, look)
    }
  }

  private func reading(of file: CredentialFile, _ look: CredentialScan) async throws(AccessFailure) -> CredentialReading
  {
    if case .ended(let record) = file.body {
      if let end = try await finishRemoval(look.known) { return .ended(end) }
      // Where the file could not be written, accounts.json has the later one; of the same one it knows more.
      let end = look.known.end.flatMap { $0.at >= record.at ? $0 : nil } ?? record
      await remember(look) { $0.end = end }
      return .ended(end)
    }
    let grant: Grant
    do {
      grant = try await self.grant(in: file, modified: look.modified)
    } catch {
      // Only Hearth seals: what is sealed is what was signed out.
      if let end = try await finishRemoval(look.known) { return .ended(end) }
      switch error {
      case .blocked(let accessFailure):
        await remember(look) { _ in }
        throw accessFailure
      case .corrupt(let text): return .corrupt(text)
      }
    }
    if look.known.isToBeRemoved(grant), let end = try await finishRemoval(look.known) { return .ended(end) }
    if look.known.removal == nil, look.known.isEnded(grant), let end = look.known.end {
      await finishEnd(end, look, file.header)
      return .ended(end)
    }
    let subject = file.subject
    let fingerprint = grant.accessToken.fingerprint
    await remember(look) { known in
      known.subject = subject ?? (known.fingerprint == fingerprint ? known.subject : nil)
      known.fingerprint = fingerprint
      known.end = nil
      known.removal = nil
    }
    let credential = file.credential(with: grant)
    return isProtectedAsTold(file) ? .found(credential) : .misprotected(credential)
  }

  /// Whether a grant lies in the file as the configuration says.
  func isProtectedAsTold(_ file: CredentialFile) -> Bool {
    switch file.body {
    case .grant: protection == .none
    case .sealed: file.header.protection == protection.rawValue
    case .ended: true
    }
  }

  /// The grant in a file, opened with the key that the file asks for.
  func grant(in file: CredentialFile, modified: Timestamp) async throws(OpenFailure) -> Grant {
    switch file.body {
    case .grant(let grant): return grant
    case .ended: throw .corrupt("it holds no grant")
    case .sealed(let sealed):
      let (key, isSurelyRight) = try await openingKey(for: sealed, file.header)
      let associated = file.header.associatedData(kdf: sealed.kdf)
      guard let plaintext = Seal.open(sealed.bytes, with: key, associated: associated) else {
        if isSurelyRight { throw .corrupt("its seal was broken") }
        throw .blocked(AccessFailure(.keyUnavailable, detail: "the key does not open it"))
      }
      do {
        return try CredentialFile.grant(from: plaintext, modified: modified)
      } catch {
        throw .corrupt("what is sealed in it is no grant")
      }
    }
  }

  /// Whether the key is surely the one that sealed the file: a passphrase's is, once it has opened a file with this
  /// salt; another key file may lie where the right one lay.
  private func openingKey(
    for sealed: CredentialFile.Sealed, _ header: CredentialFile.Header
  ) async throws(OpenFailure) -> (key: SealingKey, isSurelyRight: Bool) {
    guard let protection = Protection(rawValue: header.protection), let source = keySource(for: protection) else {
      guard let held, held.kdf == sealed.kdf else {
        throw .blocked(AccessFailure(.passphraseRequired, detail: "it is sealed with a passphrase"))
      }
      return (held.key, true)
    }
    do {
      return (try await source.key(), false)
    } catch  where protection == .keyFile && keyFile.path == nil {
      let detail =
        "it is sealed with a key file that the configuration does not name any more; name it as key_file again, "
        + "or sign out and in anew"
      throw .blocked(AccessFailure(.keyUnavailable, detail: detail))
    } catch {
      throw .blocked(error)
    }
  }

  /// Brings marker and accounts.json up to what was found. That this fails hides nothing: the next reading does it.
  func remember(_ look: CredentialScan, _ change: (inout KnownAccount) -> Void) async {
    var known = look.known
    change(&known)
    known.leftovers = look.known.leftovers(besides: path)
    known.place = KnownAccount.Place(path: path, marker: await identifier(of: look.place, known.place))
    do {
      try await accounts.update(account, to: known)
    } catch {
      logger.warning("accounts.json cannot be written: \(error.detail)")
    }
  }

  /// The identifier in the marker; a missing marker is made.
  private func identifier(of place: CredentialPlace, _ remembered: KnownAccount.Place?) async -> String {
    do {
      if case .present(let found?) = try await place.readMarker(files) { return found }
      // Never the remembered one: should it get to the wrong place, it must vouch for nothing there.
      let new = CredentialPlace.newIdentifier()
      try await AtomicFile(path: place.marker, files: files).replace(with: Array("\(new)\n".utf8))
      if let seen = lastSeen, try await isThere(seen, at: place.file) { return new }
      // The volume has gone since the credential was seen: in the bare folder a marker would make that look removed.
      if try await place.readMarker(files) == .present(new) { try await files.removeFile(place.marker) }
    } catch {
      logger.warning("\(AccessFailure(error, at: place.marker).detail)")
    }
    return remembered.flatMap { $0.path == path ? $0.marker : nil } ?? CredentialPlace.newIdentifier()
  }

  private func isThere(_ seen: FileStatus, at path: String) async throws(FileError) -> Bool {
    do {
      return try await files.status(path).inode == seen.inode
    } catch .absent {
      return false
    }
  }

  /// Takes away, once, the file aside that a crash left.
  private func tidy(_ place: CredentialPlace) async {
    guard !hasTidied, reserved == nil else { return }
    hasTidied = true
    await AtomicFile(path: place.file, files: files).discard()
    await AtomicFile(path: place.marker, files: files).discard()
  }
}
