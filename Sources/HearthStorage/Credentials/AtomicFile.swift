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
    do {
      return try await files.read(path, limit: limit, followsLink: false)
    } catch .absent {
      return nil
    } catch {
      throw AccessFailure(error, at: path)
    }
  }

  /// Moves the file to a new name in its folder and returns the new path.
  func setAside(as label: String, at now: Timestamp) async throws(AccessFailure) -> String {
    try await accessing(path, await files.setAside(path, as: label, at: now))
  }

  /// Creates the temporary file and allocates disk space for it. Replaces a file left by a crash.
  func reserve(bytes: Int) async throws(FileError) {
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
  func replace(with bytes: [UInt8], isReserved: Bool = false) async throws(FileError) {
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

  private func fillTemporaryFile(with bytes: [UInt8], isReserved: Bool) async throws(FileError) {
    if isReserved {
      do {
        return try await files.write(bytes, to: temporaryPath)
      } catch .absent {
        // Another program has removed the temporary file, so create it again.
      }
    }
    try await createTemporaryFile()
    try await files.write(bytes, to: temporaryPath)
  }

  private func createTemporaryFile() async throws(FileError) {
    do {
      try await files.removeFile(temporaryPath)
    } catch .absent {
    }
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
  func createFolders(_ path: String) async throws(FileError) {
    do {
      try await createFolder(path)
    } catch .exists {
      return
    } catch .absent {
      let parent = path.splitAtLastSlash.folder
      guard !parent.isEmpty else { throw .absent }
      try await createFolders(parent)
      try await createFolder(path)
    }
    try await syncFolder(path.splitAtLastSlash.folder)
  }
}
