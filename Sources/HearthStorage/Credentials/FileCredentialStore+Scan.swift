import HearthCore
import Logging

extension FileCredentialStore {
  /// What was found where the credential should be, and what was known about it before.
  struct CredentialScan {
    enum Outcome {
      case file(CredentialFile)
      case corrupt(String)
      case tooNew(version: Int)
      /// The folder can be read but has no such file. The text says what is missing; it is `nil` if no file was
      /// expected.
      case nothing(String?)
    }

    let place: CredentialPlace
    let known: KnownAccount
    let outcome: Outcome
    /// When the file was last written.
    var modified = Timestamp(milliseconds: 0)
  }

  /// Reads the credential file, and distinguishes a missing file from an unmounted volume. Throws if that is
  /// impossible, or if nothing can be read. With `ignoringSignedOut`, a credential that was signed out is no longer
  /// expected, even if its file could not be removed.
  func scan(ignoringSignedOut: Bool = false) async throws(AccessFailure) -> CredentialScan {
    var known = try await known()
    if ignoringSignedOut, known.removal != nil { known.place = nil }
    let place = try await resolvePlace()
    if let scan = try await scanFile(place, known) { return scan }
    guard let missing = try await absence(at: place, known) else {
      return CredentialScan(place: place, known: known, outcome: .nothing(nil))
    }
    // A volume may have been mounted or unmounted between the two readings, and some programs remove a file before they
    // write it.
    await clock.sleep(until: clock.now() + Self.stillness)
    if let scan = try await scanFile(place, known) { return scan }
    _ = try await absence(at: place, known)
    return CredentialScan(place: place, known: known, outcome: .nothing(missing))
  }

  /// Returns the configured path, or its target if it is a link.
  func resolvePlace() async throws(AccessFailure) -> CredentialPlace {
    isConfiguredPath ? try await resolve(path) : CredentialPlace(file: path, account: account)
  }

  /// Follows one link, but not a second one.
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

  /// Returns `nil` if no file was expected, or a text if the file is gone. Throws if the volume or the folder is
  /// missing.
  func absence(at place: CredentialPlace, _ known: KnownAccount) async throws(AccessFailure) -> String? {
    let marker = try await accessing(place.marker, await place.readMarker(files))
    guard let remembered = known.place else {
      return marker == .absent ? nil : "\(place.file) is gone"
    }
    guard remembered.path == path else {
      return "the credential was in \(remembered.path), and nothing is in \(path), where it is configured now"
    }
    switch marker {
    case .present(nil), .present(remembered.marker): return "\(place.file) is gone"
    case .present:
      throw AccessFailure(
        .volumeUnavailable, detail: "\(place.marker) belongs to another place, and no credential is there")
    case .absent:
      throw AccessFailure(
        .volumeUnavailable,
        detail: "neither \(place.file) nor \(place.marker) is there; if the place was emptied on purpose, make an "
          + "empty file \(place.marker)")
    }
  }

  /// Returns `nil` if the file does not exist.
  private func scanFile(_ place: CredentialPlace, _ known: KnownAccount) async throws(AccessFailure) -> CredentialScan?
  {
    do throws(FileError) {
      var contents = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
      guard contents.status.isOwn else { throw FileError.notOwn }
      await narrow(place, contents.status)
      let isChangedInPlace = lastSeen?.inode == contents.status.inode && lastSeen?.isUnchanged(contents.status) == false
      var outcome = parse(contents)
      let isCorrupt = if case .corrupt = outcome { true } else { false }
      if isChangedInPlace || isCorrupt {
        contents = try await readUnchanging(place, contents)
        outcome = parse(contents)
      }
      lastSeen = contents.status
      return CredentialScan(place: place, known: known, outcome: outcome, modified: contents.status.modified)
    } catch .tooBig {
      return CredentialScan(place: place, known: known, outcome: .corrupt("it is larger than 1 MiB"))
    } catch .absent {
      return nil
    } catch {
      throw AccessFailure(error, at: place.file)
    }
  }

  /// Reads the file again until it has not changed for half a second, since another program may be writing it in place.
  private func readUnchanging(_ place: CredentialPlace, _ first: FileContents) async throws(FileError) -> FileContents {
    var contents = first
    for _ in 0..<20 {
      if clock.now() - contents.status.modified >= Self.stillness { return contents }
      await clock.sleep(until: clock.now() + Self.stillness)
      let later = try await files.read(place.file, limit: Self.sizeLimit, followsLink: false)
      if later.status.inode == contents.status.inode, later.status.isUnchanged(contents.status) { return later }
      contents = later
    }
    throw .failed("another program keeps writing it")
  }

  func parse(_ contents: FileContents) -> CredentialScan.Outcome {
    do {
      return .file(try CredentialFile(contents.bytes, account: account, modified: contents.status.modified))
    } catch {
      switch error {
      case .corrupt(let text): return .corrupt(text)
      case .tooNew(let version): return .tooNew(version: version)
      }
    }
  }

  private func narrow(_ place: CredentialPlace, _ status: FileStatus) async {
    guard status.isOpenToOthers else { return }
    do {
      try await files.setMode(place.file, to: 0o600)
      logger.warning("\(place.file) could be read or written by others; its permissions were narrowed to 0600")
    } catch {
      logger.warning("\(place.file) can be read or written by others, and its permissions cannot be narrowed")
    }
  }
}

extension FileStatus {
  /// Compares size and time of modification.
  fileprivate func isUnchanged(_ other: FileStatus) -> Bool {
    size == other.size && modified == other.modified
  }
}
