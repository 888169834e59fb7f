package import HearthCore
import Logging

extension FileCredentialStore {
  @discardableResult
  package func remove(
    _ record: EndRecord, fingerprint: Fingerprint?
  ) async throws(EndNotWritten) -> RemovedCredentials {
    var known: KnownAccount
    do throws(AccessFailure) { known = try await accounts.known(account) } catch { throw .nowhere(error) }
    known.end = record
    known.removal = KnownAccount.Removal(fingerprint: fingerprint)
    known.subject = nil
    // A full disk takes no note, but lets a file be removed.
    let isNoted = (try? await accounts.update(account, to: known)) != nil
    do throws(EndNotWritten) {
      return try await takeAway(known)
    } catch {
      guard isNoted else { throw error }
      logger.warning("signed out; the credential is removed when it can be reached: \(error.accessFailure.detail)")
      throw .partly(error.accessFailure)
    }
  }

  /// Carries out a sign-out that was noted, and returns its record; nil where none was noted. Where it fails the note
  /// stays for the next reading.
  func finishRemoval(_ known: KnownAccount) async throws(AccessFailure) -> EndRecord? {
    guard known.removal != nil, let end = known.end else { return nil }
    do throws(EndNotWritten) { _ = try await takeAway(known) } catch { throw error.accessFailure }
    return end
  }

  /// Removes the credential, what was set aside of it, the memory of it, and its marker, in an order in which a crash
  /// leaves nothing that looks like a loss. `nowhere`: it is where it was, or the place is away.
  private func takeAway(_ known: KnownAccount) async throws(EndNotWritten) -> RemovedCredentials {
    let (place, credential): (CredentialPlace, Credential?)
    do throws(AccessFailure) { (place, credential) = try await takeFilesAway(known) } catch { throw .nowhere(error) }
    reserved = nil
    lastSeen = nil
    var done = known
    let former: [Credential]
    (done.leftovers, former) = await takeAway(known.leftovers(besides: path), besides: place)
    done.removal = nil
    done.place = nil
    done.fingerprint = nil
    do throws(AccessFailure) { try await accounts.update(account, to: done) } catch { throw .partly(error) }
    try? await files.removeFile(place.marker)
    try? await files.syncFolder(place.folder)
    return RemovedCredentials(current: credential, former: former)
  }

  private func takeFilesAway(_ known: KnownAccount) async throws(AccessFailure) -> (CredentialPlace, Credential?) {
    let place = try await resolvePlace()
    var credential: Credential?
    if let contents = try? await files.read(place.file, limit: Self.sizeLimit, followsLink: false) {
      credential = await self.credential(in: contents)
    }
    do {
      try await removeFiles(at: place)
    } catch .absent {
      _ = try await absence(at: place, known)
    } catch {
      throw AccessFailure(error, at: place.file)
    }
    return (place, credential)
  }

  /// Nil where nothing can be opened: that hinders no removal.
  private func credential(in contents: FileContents) async -> Credential? {
    guard case .file(let file) = found(in: contents),
      let grant = try? await grant(in: file, modified: contents.status.modified)
    else { return nil }
    return file.credential(with: grant)
  }

  /// Removes what was left where the configuration pointed before. `rest`: what cannot be found or reached now; that
  /// hinders no sign-out, and is not taken for a session again. A different grant that is there by now stays.
  func takeAway(
    _ leftovers: [KnownAccount.Leftover], besides current: CredentialPlace
  ) async -> (rest: [KnownAccount.Leftover], removed: [Credential]) {
    var rest: [KnownAccount.Leftover] = []
    var removed: [Credential] = []
    for leftover in leftovers {
      do {
        let place = try await resolve(leftover.path)
        if place.file == current.file { continue }
        // Its marker says that it was ours, also where only what was set aside of it is left.
        if try await place.readMarker(files) != .absent, try await !files.exists(place.file) {
          try await files.removeSetAside(of: place.file)
        }
        let contents = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
        guard isLeft(leftover, in: contents) else { continue }
        let credential = await credential(in: contents)
        try await removeFiles(at: place)
        if let credential { removed.append(credential) }
        if place.marker != current.marker { try? await files.removeFile(place.marker) }
      } catch {
        logger.info("\(leftover.path), where the credential was before, is not removed: \(error)")
        rest.append(leftover)
      }
    }
    return (rest, removed)
  }

  /// Only Hearth seals: what is sealed there for this account is what was left.
  private func isLeft(_ leftover: KnownAccount.Leftover, in contents: FileContents) -> Bool {
    guard case .file(let file) = found(in: contents) else { return false }
    guard case .grant(let grant) = file.body, let fingerprint = leftover.fingerprint else { return true }
    return grant.accessToken.fingerprint == fingerprint
  }

  /// Throws `absent` where there is no credential; what lies beside it is removed then, too.
  private func removeFiles(at place: CredentialPlace) async throws(FileError) {
    await AtomicFile(path: place.file, files: files).discard()
    try await files.removeSetAside(of: place.file)
    try await files.removeFile(place.file)
    try await files.syncFolder(place.folder)
  }
}
