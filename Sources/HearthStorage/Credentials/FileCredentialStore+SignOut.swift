package import HearthCore
import Logging

extension FileCredentialStore {
  @discardableResult
  package func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials {
    var known: KnownAccount
    do { known = try await accounts.known(account) } catch { throw .nowhere(error) }
    known.end = record
    known.removal = KnownAccount.PendingRemoval(fingerprint: fingerprint, revokes: revokes ? nil : false)
    known.grants.signOut([fingerprint, known.fingerprint])
    known.subject = nil
    // If the disk is full, accounts.json cannot be written, but files can still be removed, so a failure does not end
    // the sign-out.
    let isNoted = (try? await accounts.update(account, to: known)) != nil
    do {
      return try await carryOutRemoval(known)
    } catch {
      guard isNoted else { throw error }
      logger.warning(
        "Signed out, but Hearth cannot remove the credential yet and will retry: \(error.accessFailure.detail)")
      throw .partly(error.accessFailure)
    }
  }

  /// Carries out a pending removal and returns the end of the session, or `nil` if no removal is pending. After a
  /// failure, the removal stays pending until the next reading.
  func finishRemoval(_ known: KnownAccount) async throws(AccessFailure) -> CredentialReading? {
    guard let removal = known.removal, let end = known.end else { return nil }
    do {
      let removed = try await carryOutRemoval(known)
      return .ended(end, removed: removal.revokes == false ? RemovedCredentials() : removed)
    } catch {
      throw error.accessFailure
    }
  }

  /// Removes the account's credentials, including former and set-aside files, its place in accounts.json, and its
  /// marker. The steps are ordered so that a crash never makes the credential look lost. Throws `nowhere` if the file
  /// was not removed.
  private func carryOutRemoval(_ known: KnownAccount) async throws(EndNotWritten) -> RemovedCredentials {
    let (place, credential): (CredentialPlace, Credential?)
    do { (place, credential) = try await removeCurrent(known) } catch { throw .nowhere(error) }
    reserved = nil
    lastSeen = nil
    var updated = known
    var removed = RemovedCredentials(current: credential)
    (updated.formerPlaces, removed.former) = await removeFormer(known.formerPlaces(besides: path), besides: place)
    updated.grants.signOut(([credential].compactMap(\.self) + removed.former).map { GrantMarks($0.grant).spendable })
    updated.removal = nil
    updated.place = nil
    (updated.fingerprint, updated.clock) = (nil, nil)
    do { try await accounts.update(account, to: updated) } catch {
      removed.unrecorded = error
      return removed
    }
    try? await files.removeFile(place.marker)
    try? await files.syncFolder(place.folder)
    return removed
  }

  private func removeCurrent(_ known: KnownAccount) async throws(AccessFailure) -> (CredentialPlace, Credential?) {
    let place = try await resolvePlace()
    var credential: Credential?
    if let contents = try? await files.read(place.file, limit: Self.sizeLimit, followsLink: false) {
      credential = await self.credential(in: contents)
    }
    do {
      try await removeFiles(at: place)
    } catch {
      guard error as? FileError == .absent else { throw AccessFailure(error, at: place.file) }
      _ = try await absence(at: place, known)
    }
    return (place, credential)
  }

  /// Returns `nil` if the credential cannot be opened. The caller removes its file anyway.
  private func credential(in contents: FileContents) async -> Credential? {
    guard case .success(let file) = parse(contents),
      let grant = try? await grant(in: file, modified: contents.status.modified)
    else { return nil }
    return file.credential(with: grant)
  }

  /// Removes the account's credentials from previously configured places, unless a place now contains a different
  /// grant. `rest` contains the places where no file could be read or removed. They do not prevent the sign-out, and
  /// Hearth will not use the grants there again.
  func removeFormer(
    _ formerPlaces: [KnownAccount.FormerPlace], besides current: CredentialPlace
  ) async -> (rest: [KnownAccount.FormerPlace], removed: [Credential]) {
    var rest: [KnownAccount.FormerPlace] = []
    var removed: [Credential] = []
    for former in formerPlaces {
      do {
        let place = try await resolve(former.path)
        if place.file == current.file { continue }
        // The marker shows that Hearth used this place, so any files set aside here are Hearth's.
        if try await place.readMarker(files) != .absent, try await !files.exists(place.file) {
          try await files.removeSetAside(of: place.file)
        }
        let contents = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
        guard isFormerCredential(former, in: contents) else { continue }
        let credential = await credential(in: contents)
        try await removeFiles(at: place)
        if let credential { removed.append(credential) }
        if place.marker != current.marker { try? await files.removeFile(place.marker) }
      } catch {
        logger.info("Cannot remove a previous credential file: \(AccessFailure(error, at: former.path).detail).")
        rest.append(former)
      }
    }
    return (rest, removed)
  }

  /// Returns whether the file was Hearth's: it is sealed, which only Hearth does, or records an end, or contains the
  /// grant that Hearth last saw there. If that grant is unknown, any grant counts.
  private func isFormerCredential(_ former: KnownAccount.FormerPlace, in contents: FileContents) -> Bool {
    guard case .success(let file) = parse(contents) else { return false }
    guard case .grant(let grant) = file.body, let fingerprint = former.fingerprint else { return true }
    return grant.accessToken.fingerprint == fingerprint
  }

  /// Removes the credential file, its temporary file and its set-aside versions. Throws `absent` if there is no
  /// credential file.
  private func removeFiles(at place: CredentialPlace) async throws {
    await AtomicFile(path: place.file, files: files).discard()
    try await files.removeSetAside(of: place.file)
    try await files.removeFile(place.file)
    try await files.syncFolder(place.folder)
  }
}
