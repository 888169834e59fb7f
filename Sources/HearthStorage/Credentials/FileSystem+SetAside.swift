import HearthCore

/// Moves unusable files to `NAME.LABEL-TIME` in the same folder, so that a person can inspect them.
extension FileSystem {
  /// Moves a file to an unused name, makes it readable only by its owner, and returns the new path. Once the move is
  /// durable, removes older files with the same label. If the moved file is empty, keeps the newest older file that is
  /// not empty.
  func setAside(_ path: String, as label: String, at now: Timestamp) async throws(FileError) -> String {
    let (folder, name) = path.splitAtLastSlash
    var newName = "\(name).\(label)-\(now.description.filter { !"-:.".contains($0) })"
    while try await exists("\(folder)/\(newName)") { newName += "x" }
    try await rename(path, to: "\(folder)/\(newName)")
    try await syncFolder(folder)
    try? await setMode("\(folder)/\(newName)", to: 0o600)
    // If this fails, the next call removes the older files.
    try? await removeSetAside(of: path, as: label, before: newName)
    return "\(folder)/\(newName)"
  }

  /// Removes all earlier versions of this file that were set aside, with any label.
  func removeSetAside(of path: String) async throws(FileError) {
    for label in ["corrupt", "newer"] {
      for old in try await setAside(of: path, as: label) { try await removeFile(old) }
    }
  }

  private func removeSetAside(of path: String, as label: String, before newest: String) async throws(FileError) {
    let newest = "\(path.splitAtLastSlash.folder)/\(newest)"
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
  private func setAside(of path: String, as label: String) async throws(FileError) -> [String] {
    let (folder, name) = path.splitAtLastSlash
    let prefix = "\(name).\(label)-"
    return try await names(in: folder)
      .filter { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).allSatisfy { $0.isNumber || "TZx".contains($0) } }
      .sorted(by: >).map { "\(folder)/\($0)" }
  }

  func exists(_ path: String) async throws(FileError) -> Bool {
    do {
      _ = try await status(path)
      return true
    } catch .absent {
      return false
    }
  }
}
