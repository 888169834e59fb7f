import CLinux
import Glibc
import HearthCore

/// Accesses the folder of a sink's file. The folder stays open during a step, so that replacing the folder at its path
/// does not affect the step.
enum SinkFolder {
  /// Opens the folder of `path` and passes its descriptor and the file's name to `body`.
  static func open<Value>(of path: String, _ body: (Int32, String) throws -> Value) throws -> Value {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    let descriptor = try check(hearth_open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
    defer { hearth_close_file(descriptor) }
    return try body(descriptor, String(path[path.index(after: slash)...]))
  }

  /// Throws unless only this user and root can replace the file or a folder on the path to it. Otherwise, another user
  /// could plant a token of their own. Each component of the path, including links, must belong to this user or to
  /// root, and nobody else may have write access to the file's folder. The folders above it may be writable by others
  /// if the sticky bit protects their entries, and by this user's own group in any case.
  static func requireTrust(of path: String) throws {
    var left = Array(path.split(separator: "/").dropLast().reversed())
    var folder = ""
    var links = 0
    try requireTrust(in: lstatus(of: "/"), "/", isLast: left.isEmpty)
    while let step = left.popLast() {
      if step == "." { continue }
      if step == ".." {
        folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        continue
      }
      let next = "\(folder)/\(step)"
      let status = try lstatus(of: next)
      let isLink = status.st_mode & S_IFMT == S_IFLNK
      try requireTrust(in: status, next, isLast: left.isEmpty)
      guard isLink else {
        folder = next
        continue
      }
      links += 1
      guard links <= 40, let target = try? linkTarget(of: next) else { throw SinkFailure(errno: ELOOP) }
      if target.hasPrefix("/") { folder = "" }
      left += target.split(separator: "/").reversed()
    }
    try requireTrust(in: lstatus(of: folder.isEmpty ? "/" : folder), folder, isLast: true)
  }

  private static func requireTrust(in status: stat, _ step: String, isLast: Bool) throws {
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw SinkFailure.folderUnsafe("\(step) belongs to user \(status.st_uid); choose a folder of your own")
    }
    // Links have no meaningful mode, so their mode is not checked. Above the last folder, the user's own group may have
    // write access, because systems with a umask of 002 give each user a private group.
    let others = S_IWOTH | (isLast || status.st_gid != getegid() ? S_IWGRP : 0)
    guard status.st_mode & S_IFMT != S_IFLNK, status.st_mode & others != 0 else { return }
    guard status.st_mode & S_ISVTX != 0 else {
      throw SinkFailure.folderUnsafe("other users can write to \(step); run \"chmod go-w \(step)\"")
    }
    guard !isLast else {
      throw SinkFailure.folderUnsafe("\(step) is shared with other users; choose a folder of your own")
    }
  }

  private static func lstatus(of path: String) throws -> stat {
    var status = stat()
    try check(lstat(path, &status))
    return status
  }

  /// Returns the file's status, or `nil` if the file does not exist.
  static func status(of name: String, in folder: Int32) throws -> stat? {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw SinkFailure(errno: errno)
    }
    return status
  }

  static func place(of path: String) throws -> SinkPlace {
    try open(of: path) { folder, name in
      var status = stat()
      try check(fstat(folder, &status))
      return (UInt64(status.st_dev), UInt64(status.st_ino), name)
    }
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw count < 0 ? SinkFailure(errno: errno) : .failed("the file system wrote no data") }
      written += count
    }
  }

  /// Returns the result of a system call. Throws the failure for `errno` if the result is negative.
  @discardableResult
  static func check(_ result: Int32) throws -> Int32 {
    guard result >= 0 else { throw SinkFailure(errno: errno) }
    return result
  }
}

extension SinkFailure: BlockingCallFailure {
  init(errno number: Int32) {
    switch number {
    case ENOENT, ENOTDIR: self = .folderMissing
    case EACCES, EPERM: self = .denied
    case EROFS: self = .readOnly
    case ENOSPC, EDQUOT: self = .noSpace
    case EISDIR, ELOOP: self = .notRegular
    default: self = .failed(String(cString: strerror(number)))
    }
  }
}
