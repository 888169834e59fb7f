/// Which watcher watches what through one instance of inotify(7), which has only one watch per folder.
struct WatchTable {
  /// A watched folder, and the name in it that leads to a watched file.
  struct Folder: Hashable {
    /// The kernel's number of the watch.
    let watch: Int32
    let name: String
    /// Whether the name is a folder above the file, and not the file itself.
    let isAbove: Bool
  }

  /// The watchers by watch and name, and whether the name is a folder above one of their files.
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

  /// Forgets the watches that nobody needs any more, and returns them.
  mutating func removeUnused() -> [Int32] {
    let unused = names.filter(\.value.isEmpty).map(\.key)
    for watch in unused { names[watch] = nil }
    return unused
  }

  /// Called when the kernel has removed the watch.
  mutating func forget(_ watch: Int32) { names[watch] = nil }

  func watchers(of name: String, in watch: Int32) -> [Int: Bool] { names[watch]?[name] ?? [:] }

  /// All watchers of a folder.
  func watchers(of watch: Int32) -> Set<Int> { Set((names[watch] ?? [:]).values.flatMap(\.keys)) }
}
