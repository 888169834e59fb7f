import Glibc

/// The configuration file, read and locked against other programs of Hearth that would change it, until it is replaced.
struct ConfigurationEdit {
  /// As it is named, for people.
  let path: String
  /// Where it lies: links are followed, so that they stay.
  private let place: String
  private let folder: FolderLock
  private let before: (status: stat, bytes: [UInt8])?

  /// It is nil if there is no file yet.
  var bytes: [UInt8]? { before?.bytes }

  /// What was there before is kept here.
  var keptPath: String? { before.map { _ in place + ".bak" } }

  /// Reads the file. Where there is none its folder is made, for its owner alone.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    place = try Self.resolve(path)
    let parent = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
    try Self.makeFolders(parent)
    folder = try FolderLock(parent.isEmpty ? "/" : parent)
    before = try Self.read(place, named: path)
  }

  /// Writes `new` beside the file, has it checked there, and lets it take the place of the file, which is kept as
  /// `keptPath`. `check` is given the path of what was written, and throws where it must not be used. `isTrial`: it is
  /// only checked.
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
    // What another program has created meanwhile is not replaced.
    let isCreated = before == nil && link(draft, place) == 0
    guard isCreated || (before != nil || errno != EEXIST) && rename(draft, place) == 0 else { throw unwritable() }
    folder.sync()
  }

  /// Somebody may have edited the file by hand meanwhile.
  private func requireUnchanged() throws(CommandFailure) {
    var now = stat()
    let isThere = stat(place, &now) == 0
    let isSame =
      before.map { before in
        isThere && now.st_ino == before.status.st_ino && now.st_dev == before.status.st_dev
          && now.st_size == before.status.st_size && now.st_mtim.tv_sec == before.status.st_mtim.tv_sec
          && now.st_mtim.tv_nsec == before.status.st_mtim.tv_nsec
      } ?? !isThere
    guard isSame else {
      throw CommandFailure(.failed, "\(path) was changed by another program meanwhile. Nothing was written: try again.")
    }
  }

  /// A new file beside the configuration, on disk, with the owner and the group of the one before.
  private func write(_ bytes: [UInt8], mode: mode_t) throws(CommandFailure) -> String {
    var template = Array((place + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw unwritable() }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    var mode = mode
    // A group that cannot be given is not to read it under another's name.
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
      return CommandFailure(.failed, "\(path) was made by another program meanwhile. Nothing was written: try again.")
    }
    return CommandFailure(.failed, "\(place) cannot be written: \(reason()). Nothing was changed.")
  }
}

// MARK: - Reading

extension ConfigurationEdit {
  /// The daemon's own limit, in bytes.
  private static let limit = 1 << 20

  private static func resolve(_ path: String) throws(CommandFailure) -> String {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw CommandFailure(.failed, "\(path) cannot be reached: \(reason()).") }
      return path
    }
    guard let place = realpath(path, nil) else {
      throw CommandFailure(.failed, "\(path) is a link that leads nowhere (\(reason())): fix it, or remove it.")
    }
    defer { free(place) }
    return String(cString: place)
  }

  /// It is nil if there is no such file.
  private static func read(
    _ place: String, named path: String
  ) throws(CommandFailure) -> (status: stat, bytes: [UInt8])? {
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
        ? "it is what \(path) leads to, so change it where it is made"
        : path.hasPrefix("/etc/")
          ? "copy it to ~/.config/hearth/config.toml, which counts before it, and try again"
          : "change it as its owner, or name another file with --config"
      throw CommandFailure(.failed, "\(place) belongs to \(owner) and is not yours to change: \(remedy).")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw CommandFailure(.failed, "\(path) is refused, because others may write it: run \"chmod go-w \(place)\".")
    }
    guard let bytes = WholeFile.read(descriptor, limit: limit) else {
      throw CommandFailure(.failed, "\(path) cannot be read, or is larger than 1 MiB.")
    }
    return (status, bytes)
  }

  private static func makeFolders(_ path: String) throws(CommandFailure) {
    for end in path.indices.dropFirst().filter({ path[$0] == "/" }) + [path.endIndex] where end > path.startIndex {
      guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST else {
        throw CommandFailure(.failed, "The folder \(path) cannot be made: \(reason()).")
      }
    }
  }
}

/// An open folder, in which no other program of Hearth replaces the configuration meanwhile.
private final class FolderLock {
  private let descriptor: Int32

  init(_ path: String) throws(CommandFailure) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure(.failed, "The folder \(path) cannot be opened: \(reason()).") }
    // Some file systems have no locks: then what changes meanwhile is still noticed.
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  deinit { close(descriptor) }

  /// Makes what was renamed survive a power loss, where the file system can.
  func sync() { fsync(descriptor) }
}
