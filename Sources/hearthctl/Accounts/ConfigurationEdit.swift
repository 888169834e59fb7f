import Glibc

/// Edits a configuration file of Hearth or of another tool. The file's folder stays locked until the edit is done, so
/// that no other Hearth program can replace the file in the meantime.
struct ConfigurationEdit {
  /// The path as the user gave it, for messages.
  let path: String
  /// The path of the file itself, with symbolic links resolved. A link is never replaced.
  private let place: String
  private let folder: FolderLock
  private let before: (status: stat, bytes: [UInt8])?

  /// The file's content, or `nil` if there is no file yet.
  var bytes: [UInt8]? { before?.bytes }

  /// The path of the backup, or `nil` if there is no file yet.
  var keptPath: String? { before.map { _ in place + ".bak" } }

  /// Reads the file. If there is no file, creates its folder with access for the owner only.
  init(_ path: String) throws {
    self.path = path
    place = try Self.resolve(path)
    let parent = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
    try Self.makeFolders(parent)
    folder = try FolderLock(parent.isEmpty ? "/" : parent)
    before = try Self.read(place, named: path)
  }

  /// Writes `new` to a draft beside the file, checks the draft and replaces the file with it. Saves the old content at
  /// `keptPath`. `check` is called with the path of the draft and throws if the draft is invalid. If `isTrial` is set,
  /// the file is not replaced.
  func replace(with new: [UInt8], isTrial: Bool = false, check: (String) throws -> Void) throws {
    let mode = before.map { $0.status.st_mode & 0o7777 } ?? 0o600
    let draft = try write(new, mode: mode)
    defer { unlink(draft) }
    try check(draft)
    guard !isTrial else { return }
    try requireUnchanged()
    if let before, let keptPath {
      let kept = try write(before.bytes, mode: mode)
      guard rename(kept, keptPath) == 0 else {
        let reason = reason()
        unlink(kept)
        throw CommandFailure(.failed, "\(keptPath) cannot be written: \(reason). Nothing was changed.")
      }
    }
    // Do not replace a file that another program has created in the meantime.
    let isCreated = before == nil && link(draft, place) == 0
    guard isCreated || (before != nil || errno != EEXIST) && rename(draft, place) == 0 else { throw unwritable() }
    folder.sync()
  }

  /// Throws if another program has changed the file in the meantime.
  private func requireUnchanged() throws {
    var now = stat()
    let isThere = stat(place, &now) == 0
    let isSame =
      before.map { before in
        isThere && now.st_ino == before.status.st_ino && now.st_dev == before.status.st_dev
          && now.st_size == before.status.st_size && now.st_mtim.tv_sec == before.status.st_mtim.tv_sec
          && now.st_mtim.tv_nsec == before.status.st_mtim.tv_nsec
      } ?? !isThere
    guard isSame else {
      throw CommandFailure(
        .failed, "Another program changed \(path) in the meantime, so nothing was written. Try again.")
    }
  }

  /// Writes a new file beside the configuration and syncs it to disk. The owner and group are those of the
  /// configuration, if they can be set.
  private func write(_ bytes: [UInt8], mode: mode_t) throws -> String {
    var template = Array((place + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw unwritable() }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    var mode = mode
    // If the group cannot be set, remove the group's permissions. Otherwise, a different group would get them.
    if let before, fchown(descriptor, before.status.st_uid, before.status.st_gid) != 0 { mode &= ~0o070 }
    guard WholeFile.write(bytes, to: descriptor), fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else {
      let failure = unwritable()
      unlink(path)
      throw failure
    }
    return path
  }

  private func unwritable() -> CommandFailure {
    if errno == EEXIST {
      return CommandFailure(
        .failed, "Another program created \(path) in the meantime, so nothing was written. Try again.")
    }
    return CommandFailure(.failed, "\(place) cannot be written: \(reason()). Nothing was changed.")
  }
}

// MARK: - Reading

extension ConfigurationEdit {
  /// The maximum size of the file in bytes. hearthd has the same limit.
  private static let limit = 1 << 20

  private static func resolve(_ path: String) throws -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw CommandFailure(.failed, "\(path) cannot be accessed: \(reason()).") }
      return path
    }
    guard let place = realpath(path, nil) else {
      throw CommandFailure(.failed, "\(path) is a link that cannot be followed: \(reason()). Fix or remove it.")
    }
    defer { free(place) }
    return String(cString: place)
  }

  /// Reads the file, or returns `nil` if it does not exist.
  private static func read(
    _ place: String, named path: String
  ) throws -> (status: stat, bytes: [UInt8])? {
    let descriptor = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw CommandFailure(.failed, "\(path) cannot be read: \(reason()).")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.failed, "\(path) is not a regular file.")
    }
    guard status.st_uid == geteuid() else {
      let owner = status.st_uid == 0 ? "root" : "user \(status.st_uid)"
      let remedy =
        place != path
        ? "Change it with the tool that created the link \(path)"
        : path.hasPrefix("/etc/")
          ? "Copy it to ~/.config/hearth/config.toml, which takes precedence. If the daemon is running, run "
            + "\"hearthctl reload\". Then try again"
          : "Change it as its owner, or choose another file with --config"
      throw CommandFailure(.failed, "You cannot change \(place), because it belongs to \(owner). \(remedy).")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw CommandFailure(
        .failed,
        "Cannot use \(path), because other users can write to it. Run \"chmod go-w \(place)\".")
    }
    guard let bytes = WholeFile.read(descriptor, limit: limit) else {
      throw CommandFailure(.failed, "\(path) cannot be read, or is larger than 1 MiB.")
    }
    return (status, bytes)
  }

  private static func makeFolders(_ path: String) throws {
    for end in path.indices.dropFirst().filter({ path[$0] == "/" }) + [path.endIndex] where end > path.startIndex {
      guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST else {
        throw CommandFailure(.failed, "Cannot create the folder \(path): \(reason()).")
      }
    }
  }
}

/// Locks a folder, so that no other Hearth program can replace a configuration in it.
private final class FolderLock {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure(.failed, "The folder \(path) cannot be opened: \(reason()).") }
    // Ignore other errors, because some file systems do not support locks. `requireUnchanged` detects changes there.
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  deinit { close(descriptor) }

  /// Makes a rename survive a power failure, if the file system supports it.
  func sync() { fsync(descriptor) }
}
