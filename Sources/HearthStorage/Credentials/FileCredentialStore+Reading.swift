package import HearthCore
import Logging

extension FileCredentialStore {
  /// The reason why the grant in a file cannot be opened.
  enum OpenFailure: Error {
    case blocked(AccessFailure)
    case corrupt(String)
  }

  package func read() async -> CredentialReading {
    do {
      let scan = try await self.scan()
      await tidy(scan.place)
      return try await reading(of: scan)
    } catch {
      return .unreadable(error)
    }
  }

  private func reading(of scan: CredentialScan) async throws(AccessFailure) -> CredentialReading {
    let known = scan.known
    if case .success(let file?) = scan.file { return try await reading(of: file, scan) }
    if let signedOut = try await finishRemoval(known) { return signedOut }
    switch scan.file {
    case .failure(.corrupt(let text)):
      // Make sure that there is a marker. Without one, the folder would look like an unmounted volume once the file is
      // moved.
      await remember(scan) { _ in }
      return .corrupt(text)
    case .failure(.tooNew(let version)):
      return .tooNew(version: version)
    case .success:
      if known.place == nil, known.end?.reason == .signedOut {
        // Finish a sign-out that a crash interrupted, which left the marker and the former places behind.
        try? await files.removeFile(scan.place.marker)
        var updated = known
        updated.formerPlaces = await removeFormer(known.formerPlaces, besides: scan.place).rest
        try? await accounts.update(account, to: updated)
      }
      if let end = known.end { return .ended(end) }
      return scan.missing.map { .missing($0) } ?? .neverSignedIn
    }
  }

  private func reading(of file: CredentialFile, _ scan: CredentialScan) async throws(AccessFailure) -> CredentialReading
  {
    if case .ended(let record) = file.body {
      if let signedOut = try await finishRemoval(scan.known) { return signedOut }
      // If the file could not be written, accounts.json contains a later end. If both contain the same end,
      // accounts.json has more details. In both cases, accounts.json takes precedence.
      let end = scan.known.end?.prevailing(over: record) ?? record
      await remember(scan) { $0.end = end }
      return .ended(end)
    }
    let grant: Grant
    do {
      grant = try await self.grant(in: file, modified: scan.modified)
    } catch {
      // Only Hearth writes sealed files, so a sealed grant must be the one that was signed out.
      if let signedOut = try await finishRemoval(scan.known) { return signedOut }
      switch error {
      case .blocked(let accessFailure):
        await remember(scan) { _ in }
        throw accessFailure
      case .corrupt(let text):
        await remember(scan) { _ in }
        return .corrupt(text)
      }
    }
    if scan.known.isToBeRemoved(grant), let signedOut = try await finishRemoval(scan.known) { return signedOut }
    if scan.known.removal == nil, scan.known.isEnded(grant), let end = scan.known.end {
      await finishEnd(end, scan, file.header)
      return .ended(end)
    }
    if scan.known.grants.isOver(grant) {
      let why =
        "\(scan.place.file) contains the credential of a session that has ended, so Hearth ignores it."
      logger.warning("\(why)")
      if let end = scan.known.end { return .ended(end) }
      // Another program has replaced a later credential with this one.
      let end = EndRecord(reason: .credentialMissing, at: clock.now(), fingerprint: nil, detail: why)
      await remember(scan) { $0.end = end }
      return .ended(end)
    }
    let subject = file.subject
    let fingerprint = grant.accessToken.fingerprint
    let isFormer = scan.known.grants.isFormer(grant)
    await remember(scan) { known in
      let isOfAnotherUser = known.subject.flatMap { old in subject.map { !$0.isSameUser(as: old) } } ?? false
      known.grants.found(grant, isOfAnotherUser: isOfAnotherUser)
      known.subject = subject ?? (known.fingerprint == fingerprint ? known.subject : nil)
      known.fingerprint = fingerprint
      known.clock = accounts.clock(of: grant, after: known.clock)
      known.end = nil
      known.removal = nil
    }
    return .found(
      file.credential(with: grant), isFormer ? .former : isProtectedAsConfigured(file) ? .current : .misprotected)
  }

  /// Returns whether the file's protection matches the configuration.
  func isProtectedAsConfigured(_ file: CredentialFile) -> Bool {
    switch file.body {
    case .grant: protection == .none
    case .sealed: file.header.protection == protection.rawValue
    case .ended: true
    }
  }

  /// Returns the grant in a file, decrypting it if it is sealed.
  func grant(in file: CredentialFile, modified: Timestamp) async throws(OpenFailure) -> Grant {
    switch file.body {
    case .grant(let grant): return grant
    case .ended: throw .corrupt("it contains no grant")
    case .sealed(let sealed, let kdf):
      let (key, isSurelyRight) = try await openingKey(file.header, kdf)
      guard let plaintext = key.open(sealed, associated: file.header.associatedData(kdf: kdf)) else {
        if isSurelyRight { throw .corrupt("its sealed content is damaged") }
        throw .blocked(AccessFailure(.keyUnavailable, detail: "it was sealed with another key"))
      }
      do {
        return try CredentialFile.grant(from: plaintext, modified: modified)
      } catch {
        throw .corrupt("its sealed content is not a grant")
      }
    }
  }

  /// Returns the key, and whether it is certainly the one that sealed the file. That is certain for a passphrase's key
  /// that was derived with this salt, but not for a key file, which may have been replaced.
  private func openingKey(
    _ header: CredentialFile.Header, _ kdf: ScryptParameters?
  ) async throws(OpenFailure) -> (key: SealingKey, isSurelyRight: Bool) {
    let protection = header.protection.flatMap(Protection.init)
    do {
      if let protection, let key = try await key(for: protection) { return (key, false) }
    } catch  where protection == .keyFile && keyFile == nil {
      let detail =
        "it is sealed with a key file, but the configuration no longer contains key_file; set key_file to it again "
        + "(add protection = \"none\" to store the credential unsealed), or sign out and sign in again"
      throw .blocked(AccessFailure(.keyUnavailable, detail: detail))
    } catch {
      throw .blocked(error)
    }
    guard let passphraseKey, passphraseKey.kdf == kdf else {
      throw .blocked(AccessFailure(.passphraseRequired, detail: "it is sealed with a passphrase"))
    }
    return (passphraseKey.key, true)
  }

  /// Updates the marker and accounts.json after a scan. A failure is only logged, because the next read tries again.
  func remember(_ scan: CredentialScan, _ change: (inout KnownAccount) -> Void) async {
    var known = scan.known
    change(&known)
    known.formerPlaces = scan.known.formerPlaces(besides: path)
    known.place = KnownAccount.Place(path: path, marker: await identifier(of: scan.place, known))
    do {
      try await accounts.update(account, to: known)
    } catch {
      logger.warning("Cannot write accounts.json: \(error.detail)")
    }
  }

  /// Returns the identifier in the marker. Creates the marker if it is missing or has no valid identifier.
  private func identifier(of place: CredentialPlace, _ known: KnownAccount) async -> String {
    do {
      if case .present(let found?) = try await place.readMarker(files) {
        await markLock(known.lockedByUser, found, at: place)
        return found
      }
      // Create a new identifier, because the remembered one would make a wrong folder look like the right one.
      let new = CredentialPlace.newIdentifier()
      try await AtomicFile(path: place.marker, files: files).replace(
        with: CredentialPlace.markerBytes(new, isLocked: known.lockedByUser))
      if let seen = lastSeen, try await ifPresent(await files.status(place.file))?.inode == seen.inode { return new }
      // The volume has been unmounted since the credential was last seen. A marker in the bare mount point would make
      // the credential look removed.
      if try await place.readMarker(files) == .present(new) { try await files.removeFile(place.marker) }
    } catch {
      logger.warning("\(AccessFailure(error, at: place.marker).detail)")
    }
    return known.place.flatMap { $0.path == path ? $0.marker : nil } ?? CredentialPlace.newIdentifier()
  }

  /// Removes the temporary files that a crash left behind. Only the first read does this.
  private func tidy(_ place: CredentialPlace) async {
    guard !hasTidied, reserved == nil else { return }
    hasTidied = true
    await AtomicFile(path: place.file, files: files).discard()
    await AtomicFile(path: place.marker, files: files).discard()
  }
}
