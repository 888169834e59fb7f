import HearthCore
import Logging

extension FileCredentialStore {
  /// The result of looking for the credential, and what was known about it before.
  struct CredentialScan {
    let place: CredentialPlace
    let known: KnownAccount
    /// The file, or `nil` if the folder is readable but does not contain it.
    let file: Result<CredentialFile?, FileFormatError>
    /// What is missing, or `nil` if there is a file or none was expected.
    var missing: String?
    var modified = Timestamp(milliseconds: 0)
  }

  /// Reads the credential file, and distinguishes a missing file from an unmounted volume. Throws if the volume may be
  /// unmounted or the file cannot be read. If `ignoringSignedOut` is true, the file of a pending sign-out is not
  /// expected to exist.
  func scan(ignoringSignedOut: Bool = false) async throws(AccessFailure) -> CredentialScan {
    var known = try await known()
    if ignoringSignedOut, known.removal != nil { known.place = nil }
    let place = try await resolvePlace()
    if let scan = try await scanFile(place, known) { return scan }
    guard let missing = try await absence(at: place, known) else {
      return CredentialScan(place: place, known: known, file: .success(nil))
    }
    // Check again, because a volume may have been mounted or unmounted between reading the file and reading the marker,
    // and some programs remove a file before they write it.
    await clock.sleep(until: clock.now() + Self.stillness)
    if let scan = try await scanFile(place, known) { return scan }
    _ = try await absence(at: place, known)
    return CredentialScan(place: place, known: known, file: .success(nil), missing: missing)
  }

  /// Returns the place of the credential. Only a configured path can be a link, which is followed.
  func resolvePlace() async throws(AccessFailure) -> CredentialPlace {
    isConfiguredPath ? try await resolve(path) : CredentialPlace(file: path, account: account)
  }

  /// Follows a link at `path`, but no further links.
  func resolve(_ path: String) async throws(AccessFailure) -> CredentialPlace {
    do {
      guard try await files.status(path).kind == .link else { return CredentialPlace(file: path, account: account) }
      let target = try await files.target(ofLink: path)
      let file = target.hasPrefix("/") ? target : path.splitAtLastSlash.folder + "/" + target
      return CredentialPlace(file: file, account: account)
    } catch .absent {
      return CredentialPlace(file: path, account: account)
    } catch {
      throw AccessFailure(error, at: path)
    }
  }

  /// Returns what is missing if the file is gone, or `nil` if no file was expected. Throws if the file's marker is
  /// missing, too, or has another identifier, because the volume may then be unmounted.
  func absence(at place: CredentialPlace, _ known: KnownAccount) async throws(AccessFailure) -> String? {
    let marker = try await accessing(place.marker, await place.readMarker(files))
    guard let remembered = known.place else {
      return marker == .absent ? nil : "\(place.file) is gone"
    }
    guard remembered.path == path else {
      return "the credential was in \(remembered.path), but the configuration now names \(path), which does not exist"
    }
    switch marker {
    case .present(nil), .present(remembered.marker): return "\(place.file) is gone"
    case .present:
      throw AccessFailure(
        .volumeUnavailable,
        detail: "\(place.file) does not exist, and \(place.marker) shows that this is not the folder that contained it")
    case .absent:
      throw AccessFailure(
        .volumeUnavailable,
        detail: "neither \(place.file) nor \(place.marker) exists; if you removed them on purpose, create an empty "
          + "file \(place.marker)")
    }
  }

  /// Returns `nil` if the file does not exist.
  private func scanFile(_ place: CredentialPlace, _ known: KnownAccount) async throws(AccessFailure) -> CredentialScan?
  {
    do {
      var contents = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
      guard contents.status.isOwn else { throw FileError.notOwn }
      await narrow(place, contents.status)
      let isChangedInPlace = lastSeen?.inode == contents.status.inode && lastSeen?.isUnchanged(contents.status) == false
      var file = parse(contents)
      let isCorrupt = if case .failure(.corrupt) = file { true } else { false }
      if isChangedInPlace || isCorrupt {
        contents = try await readUnchanging(place, contents)
        file = parse(contents)
      }
      lastSeen = contents.status
      return CredentialScan(place: place, known: known, file: file.map { $0 }, modified: contents.status.modified)
    } catch {
      switch error as? FileError {
      case .tooBig:
        return CredentialScan(place: place, known: known, file: .failure(.corrupt("it is larger than 1 MiB")))
      case .absent: return nil
      default: throw AccessFailure(error, at: place.file)
      }
    }
  }

  /// Rereads the file until it has not changed for half a second, because another program may be writing it in place.
  private func readUnchanging(_ place: CredentialPlace, _ first: FileContents) async throws -> FileContents {
    var contents = first
    for _ in 0..<20 {
      if clock.now() - contents.status.modified >= Self.stillness { return contents }
      await clock.sleep(until: clock.now() + Self.stillness)
      let later = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
      if later.status.inode == contents.status.inode, later.status.isUnchanged(contents.status) { return later }
      contents = later
    }
    throw FileError.failed("another program keeps changing it")
  }

  func parse(_ contents: FileContents) -> Result<CredentialFile, FileFormatError> {
    Result { () throws(FileFormatError) in
      try CredentialFile(contents.bytes, account: account, modified: contents.status.modified)
    }
  }

  private func narrow(_ place: CredentialPlace, _ status: FileStatus) async {
    guard status.isOpenToOthers else { return }
    do {
      try await files.setMode(place.file, to: 0o600)
      logger.warning("\(place.file) was accessible to other users; Hearth changed its mode to 0600")
    } catch {
      logger.warning("\(place.file) is accessible to other users, and Hearth cannot change its mode")
    }
  }
}

extension FileStatus {
  fileprivate func isUnchanged(_ other: FileStatus) -> Bool {
    size == other.size && modified == other.modified
  }
}
