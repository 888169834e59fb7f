import HearthCore

/// A file that is always replaced as a whole, even if the power fails. Each replacement writes and syncs a temporary
/// file, renames it over the old one, and syncs the folder.
struct AtomicFile: Sendable {
  let path: String
  let files: any FileSystem

  /// The path of the temporary file. It never changes, so that the next run finds a temporary file left by a crash.
  var temporaryPath: String {
    let (folder, name) = path.splitAtLastSlash
    return "\(folder)/.\(name).new"
  }

  var folder: String { path.splitAtLastSlash.folder }

  /// Returns the file's contents, or `nil` if the file does not exist. Throws if the file is larger than `limit` bytes.
  func read(limit: Int) async throws(AccessFailure) -> FileContents? {
    try await accessing(path, await ifPresent(await files.read(path, limit: limit, followsLink: false)))
  }

  /// Moves the file to a new name in its folder and returns the new path.
  func setAside(as label: String, at now: Timestamp) async throws(AccessFailure) -> String {
    try await accessing(path, await files.setAside(path, as: label, at: now))
  }

  /// Creates the temporary file and allocates disk space for it. Replaces a file left by a crash.
  func reserve(bytes: Int) async throws {
    do {
      try await createTemporaryFile()
      try await files.allocate(temporaryPath, bytes: bytes)
    } catch {
      await discard()
      throw error
    }
  }

  /// Replaces the contents. On return, the new contents are durable. `isReserved` is true if `reserve` has created the
  /// temporary file.
  func replace(with bytes: [UInt8], isReserved: Bool = false) async throws {
    do {
      try await fillTemporaryFile(with: bytes, isReserved: isReserved)
      try await files.syncFile(temporaryPath)
      try await files.rename(temporaryPath, to: path)
    } catch {
      await discard()
      throw error
    }
    try await files.syncFolder(folder)
  }

  /// Removes the temporary file if it exists.
  func discard() async {
    try? await files.removeFile(temporaryPath)
  }

  private func fillTemporaryFile(with bytes: [UInt8], isReserved: Bool) async throws {
    if isReserved, try await ifPresent(await files.write(bytes, to: temporaryPath)) != nil { return }
    // No space is reserved, or another program has removed the temporary file.
    try await createTemporaryFile()
    try await files.write(bytes, to: temporaryPath)
  }

  private func createTemporaryFile() async throws {
    _ = try await ifPresent(await files.removeFile(temporaryPath))
    try await files.createFile(temporaryPath)
  }
}

extension String {
  /// The folder and name in a path. The folder is "" for the root, and "." if the path has no slash.
  var splitAtLastSlash: (folder: String, name: String) {
    guard let slash = lastIndex(of: "/") else { return (".", self) }
    return (String(self[..<slash]), String(self[index(after: slash)...]))
  }
}

extension FileSystem {
  /// Creates a folder with mode 0700, including missing parents.
  func createFolders(_ path: String) async throws {
    do {
      try await createFolder(path)
    } catch {
      if error == .exists { return }
      let parent = path.splitAtLastSlash.folder
      guard error == .absent, !parent.isEmpty else { throw error }
      try await createFolders(parent)
      try await createFolder(path)
    }
    try await syncFolder(path.splitAtLastSlash.folder)
  }
}

extension AccessFailure {
  /// Converts a file error. The failure means that the credential is inaccessible, never that it is gone. Keeps an
  /// error that is already an access failure.
  init(_ error: any Error, at path: String) {
    guard let error = error as? FileError else {
      self.init(error)
      return
    }
    switch error {
    case .absent: self.init(.volumeUnavailable, detail: "\(path) does not exist")
    case .exists: self.init(.storageError, detail: "\(path) already exists")
    case .permissionDenied: self.init(.permissionDenied, detail: "\(path): permission denied")
    case .volumeUnavailable(let text): self.init(.volumeUnavailable, detail: "\(path): \(text)")
    case .keyUnavailable(let text): self.init(.keyUnavailable, detail: "\(path): \(text)")
    case .noSpace: self.init(.storageError, detail: "\(path): no space left")
    case .symbolicLink:
      self.init(
        .storageError, detail: "\(path) is a symbolic link, which Hearth follows only if credential_file names it")
    case .notRegular: self.init(.storageError, detail: "\(path) is not a regular file")
    case .notOwn: self.init(.permissionDenied, detail: "\(path) belongs to another user")
    case .tooBig: self.init(.storageError, detail: "\(path) is too large")
    case .unanswered(let limit):
      self.init(.volumeUnavailable, detail: "\(path) did not respond within \(limit.components.seconds) s")
    case .failed(let text): self.init(.storageError, detail: "\(path): \(text)")
    }
  }
}

/// Runs a step on the file at `path`, and converts each error into an access failure.
func accessing<Value>(
  _ path: String, _ step: @autoclosure () async throws -> Value
) async throws(AccessFailure) -> Value {
  do { return try await step() } catch { throw AccessFailure(error, at: path) }
}

/// Runs a step on a file, and returns `nil` if the file does not exist.
func ifPresent<Value>(_ step: @autoclosure () async throws -> Value) async throws -> Value? {
  do { return try await step() } catch {
    guard error as? FileError == .absent else { throw error }
    return nil
  }
}

/// Moves unusable files to `NAME.LABEL-TIME` in the same folder, so that a person can inspect them.
extension FileSystem {
  /// Moves a file to an unused name, makes it readable only by its owner, and returns the new path. Once the move is
  /// durable, removes older files with the same label. If the moved file is empty, keeps the newest older file that is
  /// not empty.
  func setAside(_ path: String, as label: String, at now: Timestamp) async throws -> String {
    let (folder, name) = path.splitAtLastSlash
    var newPath = "\(folder)/\(name).\(label)-\(now.description.filter { !"-:.".contains($0) })"
    while try await exists(newPath) { newPath += "x" }
    try await rename(path, to: newPath)
    try await syncFolder(folder)
    try? await setMode(newPath, to: 0o600)
    // If this fails, the next call removes the older files.
    try? await removeSetAside(of: path, as: label, before: newPath)
    return newPath
  }

  /// Removes all earlier versions of this file that were set aside, with any label.
  func removeSetAside(of path: String) async throws {
    for label in ["corrupt", "newer"] {
      for old in try await setAside(of: path, as: label) { try await removeFile(old) }
    }
  }

  private func removeSetAside(of path: String, as label: String, before newest: String) async throws {
    // An empty file must not displace one that a person may still want to repair.
    var isFilledKept = try await status(newest).size > 0
    for old in try await setAside(of: path, as: label) where old != newest {
      let size = try await status(old).size
      if !isFilledKept, size > 0 {
        isFilledKept = true
      } else {
        try await removeFile(old)
      }
    }
  }

  /// Returns the paths of the files set aside, newest first.
  private func setAside(of path: String, as label: String) async throws -> [String] {
    let (folder, name) = path.splitAtLastSlash
    let prefix = "\(name).\(label)-"
    return try await names(in: folder)
      .filter { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).allSatisfy { $0.isNumber || "TZx".contains($0) } }
      .sorted(by: >).map { "\(folder)/\($0)" }
  }

  func exists(_ path: String) async throws -> Bool {
    try await ifPresent(await status(path)) != nil
  }
}
