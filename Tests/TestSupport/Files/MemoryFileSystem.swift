package import HearthCore
import Synchronization

/// Files in memory. They know what survives a power loss, fail on request, and can be unmounted.
package final class MemoryFileSystem: FileSystem {
  package enum Step: String, Sendable {
    case read, status, target, names
    case createFile, allocate, write, syncFile, rename, syncFolder, removeFile, createFolder, setMode

    var changesSomething: Bool {
      switch self {
      case .read, .status, .target, .names: false
      case .createFile, .allocate, .write, .syncFile, .rename, .syncFolder, .removeFile, .createFolder, .setMode: true
      }
    }
  }

  /// What survives when the process or the machine stops.
  package enum Loss: Sendable, CaseIterable {
    /// The process was killed: everything survives.
    case none
    /// The names reached the disk, but contents that were not fsynced did not.
    case contents
    /// Only what was fsynced reached the disk.
    case contentsAndNames
  }

  fileprivate struct Node {
    var kind: FileStatus.Kind
    var bytes: [UInt8] = []
    var durable: [UInt8] = []
    var mode: UInt32
    var isOwn = true
    var modified: Timestamp
    var target = ""
  }

  fileprivate struct State {
    var nodes: [UInt64: Node] = [:]
    var names: [String: UInt64] = [:]
    var durableNames: [String: UInt64] = [:]
    var away: [String: UInt64] = [:]
    var nextInode: UInt64 = 1
    var log: [String] = []
    var failures: [String: FileError] = [:]
    var failuresUnder: [String: FileError] = [:]
    var changesLeft: Int?
    var leaving: (folder: String, steps: Int)?
    var changesMade = 0
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> Timestamp

  /// `now` is the modification time of written files.
  package init(folders: [String], now: @escaping @Sendable () -> Timestamp) {
    self.now = now
    for folder in folders { addFolder(folder) }
  }

  // MARK: What the test does

  package func addFolder(_ path: String) {
    state.withLock { state in
      let inode = state.add(Node(kind: .folder, mode: 0o700, modified: now()))
      state.names[path] = inode
      state.durableNames[path] = inode
    }
  }

  /// Another program replaces the file by a rename, durably.
  package func put(_ text: String, at path: String, mode: UInt32 = 0o600, isOwn: Bool = true) {
    state.withLock { state in
      let bytes = Array(text.utf8)
      let inode = state.add(
        Node(kind: .file, bytes: bytes, durable: bytes, mode: mode, isOwn: isOwn, modified: now()))
      state.names[path] = inode
      state.durableNames[path] = inode
    }
  }

  /// Another program writes into the existing file.
  package func putInPlace(_ text: String, at path: String) {
    state.withLock { state in
      guard let inode = state.names[path] else { return }
      state.nodes[inode]?.bytes = Array(text.utf8)
      state.nodes[inode]?.modified = now()
    }
  }

  package func putLink(to target: String, at path: String) {
    state.withLock { state in
      state.names[path] = state.add(Node(kind: .link, mode: 0o777, modified: now(), target: target))
    }
  }

  package func delete(_ path: String) {
    state.withLock { state in
      state.names[path] = nil
      state.durableNames[path] = nil
    }
  }

  package func text(at path: String) -> String? {
    state.withLock { state in
      state.names[path].flatMap { state.nodes[$0] }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
  }

  package func mode(at path: String) -> UInt32? {
    state.withLock { state in state.names[path].flatMap { state.nodes[$0] }?.mode }
  }

  /// All names except folders.
  package var fileNames: [String] {
    state.withLock { state in state.names.filter { state.nodes[$0.value]?.kind != .folder }.keys.sorted() }
  }

  /// Removes all names below a folder, like an unmount or the lock of an encrypted folder.
  package func unmount(_ folder: String) {
    state.withLock { $0.unmount(folder) }
  }

  /// Unmounts after this many more steps.
  package func unmount(_ folder: String, afterSteps count: Int) {
    state.withLock { $0.leaving = (folder, count) }
  }

  /// Restores everything that `unmount` removed.
  package func mountAll() {
    state.withLock { state in
      state.names.merge(state.away) { $1 }
      state.durableNames.merge(state.away) { $1 }
      state.away = [:]
    }
  }

  /// Makes a step fail for this path; nil makes it succeed again.
  package func fail(_ step: Step, at path: String, with error: FileError?) {
    state.withLock { $0.failures["\(step.rawValue) \(path)"] = error }
  }

  /// Makes every step below a folder fail; nil makes them succeed again.
  package func failAll(under folder: String, with error: FileError?) {
    state.withLock { $0.failuresUnder[folder] = error }
  }

  /// Allows this many more changes, and then none.
  package func stop(afterChanges count: Int) {
    state.withLock { $0.changesLeft = count }
  }

  /// Starts again with what has survived.
  package func restart(after loss: Loss) {
    state.withLock { state in
      state.changesLeft = nil
      guard loss != .none else { return }
      if loss == .contentsAndNames { state.names = state.durableNames }
      state.names = state.names.filter { name, _ in state.hasFolder(of: name) }
      state.durableNames = state.names
      for (inode, node) in state.nodes where node.kind == .file { state.nodes[inode]?.bytes = node.durable }
    }
  }

  /// Whether an unmount is pending.
  package var isLeaving: Bool { state.withLock { $0.leaving != nil } }

  package var changesMade: Int { state.withLock(\.changesMade) }

  /// The steps so far, as "step path".
  package var log: [String] { state.withLock(\.log) }

  package func clearLog() { state.withLock { $0.log = [] } }

  // MARK: FileSystem

  package func read(_ path: String, limit: Int, followsLink: Bool) async throws(FileError) -> FileContents {
    try perform(.read, path) { state throws(FileError) in
      var inode = try state.inode(path)
      if let node = state.nodes[inode], node.kind == .link {
        guard followsLink else { throw .symbolicLink }
        inode = try state.inode(node.target)
      }
      let status = try state.status(of: inode)
      guard status.kind == .file, let node = state.nodes[inode] else { throw .notRegular }
      guard status.size <= limit else { throw .tooBig }
      return (bytes: node.bytes, status: status)
    }
  }

  package func status(_ path: String) async throws(FileError) -> FileStatus {
    try perform(.status, path) { state throws(FileError) in try state.status(of: state.inode(path)) }
  }

  package func target(ofLink path: String) async throws(FileError) -> String {
    try perform(.target, path) { state throws(FileError) in
      guard let node = state.nodes[try state.inode(path)], node.kind == .link else { throw .failed("Invalid argument") }
      return node.target
    }
  }

  package func names(in folder: String) async throws(FileError) -> [String] {
    try perform(.names, folder) { state throws(FileError) in
      _ = try state.folder(folder)
      return state.names.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
        .filter { !$0.contains("/") }.sorted()
    }
  }

  package func createFile(_ path: String) async throws(FileError) {
    try perform(.createFile, path) { state throws(FileError) in
      try state.checkRoom(for: path)
      state.names[path] = state.add(Node(kind: .file, mode: 0o600, modified: now()))
    }
  }

  package func allocate(_ path: String, bytes: Int) async throws(FileError) {
    try perform(.allocate, path) { state throws(FileError) in
      let inode = try state.file(path)
      let count = state.nodes[inode]?.bytes.count ?? 0
      state.nodes[inode]?.bytes += Array(repeating: 0, count: max(0, bytes - count))
    }
  }

  package func write(_ bytes: [UInt8], to path: String) async throws(FileError) {
    try perform(.write, path) { state throws(FileError) in
      let inode = try state.file(path)
      state.nodes[inode]?.bytes = bytes
      state.nodes[inode]?.modified = now()
    }
  }

  package func syncFile(_ path: String) async throws(FileError) {
    // A disk takes time, in which other tasks run.
    await Task.yield()
    try perform(.syncFile, path) { state throws(FileError) in
      let inode = try state.file(path)
      let bytes = state.nodes[inode]?.bytes ?? []
      state.nodes[inode]?.durable = bytes
    }
  }

  package func rename(_ path: String, to newPath: String) async throws(FileError) {
    try perform(.rename, path) { state throws(FileError) in
      let inode = try state.inode(path)
      guard state.hasFolder(of: newPath) else { throw state.absence(of: newPath) }
      if state.isFolder(newPath), !state.isFolder(path) { throw .failed("Is a directory") }
      state.names[newPath] = inode
      state.names[path] = nil
    }
  }

  package func syncFolder(_ path: String) async throws(FileError) {
    try perform(.syncFolder, path) { state throws(FileError) in
      if !path.isEmpty { _ = try state.folder(path) }
      func isIn(_ name: String) -> Bool { State.folder(of: name) == path }
      state.durableNames = state.durableNames.filter { !isIn($0.key) }
      state.durableNames.merge(state.names.filter { isIn($0.key) }) { $1 }
    }
  }

  package func removeFile(_ path: String) async throws(FileError) {
    try perform(.removeFile, path) { state throws(FileError) in
      _ = try state.inode(path)
      if state.isFolder(path) { throw .failed("Is a directory") }
      state.names[path] = nil
    }
  }

  package func createFolder(_ path: String) async throws(FileError) {
    try perform(.createFolder, path) { state throws(FileError) in
      try state.checkRoom(for: path)
      state.names[path] = state.add(Node(kind: .folder, mode: 0o700, modified: now()))
    }
  }

  package func setMode(_ path: String, to mode: UInt32) async throws(FileError) {
    try perform(.setMode, path) { state throws(FileError) in
      let inode = try state.inode(path)
      guard state.nodes[inode]?.kind != .link else { throw .symbolicLink }
      state.nodes[inode]?.mode = mode
    }
  }

  private func perform<Value: Sendable>(
    _ step: Step, _ path: String, _ body: (inout State) throws(FileError) -> Value
  ) throws(FileError) -> Value {
    let result: Result<Value, FileError> = state.withLock { state in
      state.log.append("\(step.rawValue) \(path)")
      if let (folder, steps) = state.leaving {
        state.leaving = steps > 0 ? (folder, steps - 1) : nil
        if steps == 0 { state.unmount(folder) }
      }
      if step.changesSomething {
        if state.changesLeft == 0 { return .failure(.failed("the power is gone")) }
        state.changesLeft = state.changesLeft.map { $0 - 1 }
        state.changesMade += 1
      }
      if let error = state.failures["\(step.rawValue) \(path)"] { return .failure(error) }
      if let error = state.failuresUnder.first(where: { path == $0.key || path.hasPrefix($0.key + "/") })?.value {
        return .failure(error)
      }
      do throws(FileError) {
        return .success(try body(&state))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension MemoryFileSystem.State {
  fileprivate mutating func unmount(_ folder: String) {
    let below = names.filter { $0.key.hasPrefix(folder + "/") }
    away.merge(below) { $1 }
    for name in below.keys {
      names[name] = nil
      durableNames[name] = nil
    }
  }

  fileprivate mutating func add(_ node: MemoryFileSystem.Node) -> UInt64 {
    defer { nextInode += 1 }
    nodes[nextInode] = node
    return nextInode
  }

  fileprivate func inode(_ path: String) throws(FileError) -> UInt64 {
    guard let inode = names[path] else { throw absence(of: path) }
    return inode
  }

  /// The file to open for writing: a regular file, without following a link.
  fileprivate func file(_ path: String) throws(FileError) -> UInt64 {
    let inode = try inode(path)
    switch nodes[inode]?.kind {
    case .file: return inode
    case .folder: throw .failed("Is a directory")
    case .link: throw .symbolicLink
    case .other, nil: throw .notRegular
    }
  }

  fileprivate func folder(_ path: String) throws(FileError) -> UInt64 {
    let inode = try inode(path)
    guard nodes[inode]?.kind == .folder else { throw .failed("Not a directory") }
    return inode
  }

  fileprivate func isFolder(_ path: String) -> Bool { names[path].flatMap { nodes[$0] }?.kind == .folder }

  /// Throws if nothing new can be created at a path.
  fileprivate func checkRoom(for path: String) throws(FileError) {
    guard names[path] == nil else { throw .exists }
    guard hasFolder(of: path) else { throw absence(of: path) }
  }

  /// Why nothing exists at a path. A file in place of a folder above it is a failure, not an absence.
  fileprivate func absence(of path: String) -> FileError {
    let folder = Self.folder(of: path)
    if folder.isEmpty { return .absent }
    guard let inode = names[folder] else { return absence(of: folder) }
    return nodes[inode]?.kind == .file ? .failed("Not a directory") : .absent
  }

  fileprivate func status(of inode: UInt64) throws(FileError) -> FileStatus {
    guard let node = nodes[inode] else { throw .absent }
    return FileStatus(
      kind: node.kind, isOwn: node.isOwn, mode: node.mode, size: node.bytes.count, modified: node.modified, inode: inode
    )
  }

  fileprivate static func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// Whether all folders above exist.
  fileprivate func hasFolder(of path: String) -> Bool {
    let folder = Self.folder(of: path)
    return folder.isEmpty || isFolder(folder) && hasFolder(of: folder)
  }
}
