import HearthCore

/// A file that is replaced as a whole or not at all, even on a power loss: a temporary file is written, synced and
/// renamed over the old one, and then the folder is synced.
struct AtomicFile: Sendable {
  let path: String
  let files: any FileSystem

  /// Where the next contents are written. The name is always the same, so that a file that a crash left behind is
  /// found.
  var temporaryPath: String {
    let (folder, name) = path.splitAtLastSlash
    return "\(folder)/.\(name).new"
  }

  var folder: String { path.splitAtLastSlash.folder }

  /// Returns the contents of the file, or `nil` if it does not exist. Throws if they are longer than `limit`, in bytes.
  func read(limit: Int) async throws(AccessFailure) -> FileContents? {
    do {
      return try await files.read(path, limit: limit, followsLink: false)
    } catch .absent {
      return nil
    } catch {
      throw AccessFailure(error, at: path)
    }
  }

  /// Moves the file to a new name in its folder, and returns that name.
  func setAside(as label: String, at now: Timestamp) async throws(AccessFailure) -> String {
    try await accessing(path, await files.setAside(path, as: label, at: now))
  }

  /// Creates the temporary file with this much room. Replaces one that a crash left behind.
  func reserve(bytes: Int) async throws(FileError) {
    do {
      try await createTemporaryFile()
      try await files.allocate(temporaryPath, bytes: bytes)
    } catch {
      await discard()
      throw error
    }
  }

  /// Replaces the contents, which are durable when this returns. `isReserved` says whether `reserve` has created the
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

  /// Removes the temporary file, if there is one.
  func discard() async {
    try? await files.removeFile(temporaryPath)
  }

  private func fillTemporaryFile(with bytes: [UInt8], isReserved: Bool) async throws(FileError) {
    if isReserved {
      do {
        return try await files.write(bytes, to: temporaryPath)
      } catch .absent {
        // Another program has removed it. It is created again below.
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
  /// The folder ("" for the root) and the name of an absolute path.
  var splitAtLastSlash: (folder: String, name: String) {
    guard let slash = lastIndex(of: "/") else { return (".", self) }
    return (String(self[..<slash]), String(self[index(after: slash)...]))
  }
}

extension FileSystem {
  /// Creates a folder with mode 0700, and its missing parents.
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
