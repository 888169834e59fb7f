import HearthCore

/// A file that is replaced whole or not at all, also by a power loss: written aside, fsynced, renamed over the old one,
/// the folder fsynced.
struct AtomicFile: Sendable {
  let path: String
  let files: any FileSystem

  /// Where the next contents are written: always the same name, so that a file that a crash left is found again.
  var aside: String {
    let (folder, name) = path.splitAtLastSlash
    return "\(folder)/.\(name).new"
  }

  var folder: String { path.splitAtLastSlash.folder }

  /// Creates the file aside with this much room, and replaces one that a crash left.
  func reserve(bytes: Int) async throws(FileError) {
    do {
      try await createAside()
      try await files.allocate(aside, bytes: bytes)
    } catch {
      await discard()
      throw error
    }
  }

  /// Durable when it returns. `isReserved`: whether `reserve` has created the file aside.
  func replace(with bytes: [UInt8], isReserved: Bool = false) async throws(FileError) {
    do {
      try await fillAside(with: bytes, isReserved: isReserved)
      try await files.syncFile(aside)
      try await files.rename(aside, to: path)
    } catch {
      await discard()
      throw error
    }
    try await files.syncFolder(folder)
  }

  /// Removes the file aside, if there is one.
  func discard() async {
    try? await files.removeFile(aside)
  }

  private func fillAside(with bytes: [UInt8], isReserved: Bool) async throws(FileError) {
    if isReserved {
      do {
        return try await files.write(bytes, to: aside)
      } catch .absent {
        // Another program has removed it; it is created again.
      }
    }
    try await createAside()
    try await files.write(bytes, to: aside)
  }

  private func createAside() async throws(FileError) {
    do {
      try await files.removeFile(aside)
    } catch .absent {
    }
    try await files.createFile(aside)
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
  /// Creates a folder, mode 0700, and the missing ones above it.
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
