/// Maps inotify(7) watches to watchers. Watchers share watches, because an inotify instance has only one watch per
/// folder.
struct WatchTable {
  /// A watched folder and the name of its entry on the path to a watched file.
  struct Folder: Hashable {
    /// The kernel's watch descriptor.
    let watch: Int32
    let name: String
    /// Whether `name` is a folder above the file rather than the file itself.
    let isAbove: Bool
  }

  /// For each watch and name, the watchers and whether the name is a folder above one of their files.
  private var names: [Int32: [String: [Int: Bool]]] = [:]
  private var folders: [Int: [Folder]] = [:]

  mutating func add(_ watcher: Int, _ added: [Folder]) {
    for folder in added {
      let wasAbove = names[folder.watch]?[folder.name]?[watcher] ?? false
      names[folder.watch, default: [:]][folder.name, default: [:]][watcher] = wasAbove || folder.isAbove
    }
    folders[watcher, default: []] += added
  }

  mutating func remove(_ watcher: Int) {
    for folder in folders.removeValue(forKey: watcher) ?? [] {
      names[folder.watch]?[folder.name]?[watcher] = nil
      if names[folder.watch]?[folder.name]?.isEmpty == true { names[folder.watch]?[folder.name] = nil }
    }
  }

  mutating func removeUnused() -> [Int32] {
    let unused = names.filter(\.value.isEmpty).map(\.key)
    for watch in unused { names[watch] = nil }
    return unused
  }

  /// Removes a watch from the table after the kernel has removed it.
  mutating func forget(_ watch: Int32) { names[watch] = nil }

  func watchers(of name: String, in watch: Int32) -> [Int: Bool] { names[watch]?[name] ?? [:] }

  func watchers(of watch: Int32) -> Set<Int> { Set((names[watch] ?? [:]).values.flatMap(\.keys)) }
}
