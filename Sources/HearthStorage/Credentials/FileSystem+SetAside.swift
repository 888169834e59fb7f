import HearthCore

/// Moves files that cannot be used to `NAME.LABEL-TIME` in their folder, for a person to look at.
extension FileSystem {
  /// Moves a file to a free name in its folder, readable only by its owner, and returns that name. Once that is
  /// durable, removes older files with the same label, except the newest and the newest that is not empty.
  func setAside(_ path: String, as label: String, at now: Timestamp) async throws(FileError) -> String {
    let (folder, name) = path.splitAtLastSlash
    var newName = "\(name).\(label)-\(now.description.filter { !"-:.".contains($0) })"
    while try await exists("\(folder)/\(newName)") { newName += "x" }
    try await rename(path, to: "\(folder)/\(newName)")
    try await syncFolder(folder)
    try? await setMode("\(folder)/\(newName)", to: 0o600)
    // If an older one cannot be removed, the next call removes it.
    try? await removeSetAside(of: path, as: label, before: newName)
    return "\(folder)/\(newName)"
  }

  /// Removes every file that was set aside from this one, whatever the label.
  func removeSetAside(of path: String) async throws(FileError) {
    for label in ["corrupt", "newer"] {
      for old in try await setAside(of: path, as: label) { try await removeFile(old) }
    }
  }

  private func removeSetAside(of path: String, as label: String, before newest: String) async throws(FileError) {
    let newest = "\(path.splitAtLastSlash.folder)/\(newest)"
    // An empty file does not replace one that a person may still want to repair.
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

  /// Returns the paths, the newest first.
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
