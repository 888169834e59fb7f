import CLinux
import Glibc
package import HearthCore

/// The file of one sink on this machine. Each step works in the folder that it has opened and looked at, so that nobody
/// can exchange it meanwhile. Each sink has an object of its own, so that a mount that hangs delays no other.
///
/// Nothing is fsynced: after a power loss a token is written anew.
package struct LinuxSinkFiles: SinkFiles {
  private let calls: BlockingCallQueue
  private let limit: Duration

  /// `limit`: how long a step may take before it fails with `unanswered`.
  package init(limit: Duration = .seconds(5)) {
    self.limit = limit
    calls = BlockingCallQueue(limit: limit)
  }

  package func place(of path: String) async throws(SinkFailure) -> SinkPlace {
    try await run { () throws(SinkFailure) in
      var place: SinkPlace?
      try withFolder(of: path) { folder, name throws(SinkFailure) in
        var status = stat()
        try check(fstat(folder, &status))
        place = SinkPlace(device: UInt64(status.st_dev), folder: UInt64(status.st_ino), name: name)
      }
      guard let place else { throw .folderMissing }
      return place
    }
  }

  package func requireFree(_ path: String) async throws(SinkFailure) {
    try await run { () throws(SinkFailure) in
      try withFolder(of: path) { folder, name throws(SinkFailure) in
        guard try kind(of: name, in: folder) == nil else { throw .occupied }
      }
    }
  }

  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    try await run { () throws(SinkFailure) in
      let owner = try sink.owner.map { name throws(SinkFailure) in try Owner.user(name) }
      let group = try sink.group.map { name throws(SinkFailure) in try Owner.group(name) }
      try withFolder(of: sink.path) { folder, name throws(SinkFailure) in
        try requireTrust(in: folder)
        guard try kind(of: name, in: folder) ?? S_IFREG == S_IFREG else { throw .notRegular }
        let draft = draft(of: name)
        _ = unlinkat(folder, draft, 0)
        do throws(SinkFailure) {
          try create(draft, in: folder, owner: owner, group: group, sink: sink, bytes)
          try check(renameat(folder, draft, folder, name))
        } catch {
          _ = unlinkat(folder, draft, 0)
          throw error
        }
      }
    }
  }

  package func remove(_ path: String) async throws(SinkFailure) {
    try await run { () throws(SinkFailure) in
      do throws(SinkFailure) {
        try withFolder(of: path) { folder, name throws(SinkFailure) in
          for name in [draft(of: name), name] where try kind(of: name, in: folder) == S_IFREG {
            guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw SinkFailure(errno: errno) }
          }
        }
      } catch .folderMissing {
        // With the folder the file is gone.
      }
    }
  }

  private func run<Value: Sendable>(
    _ step: @escaping @Sendable () throws(SinkFailure) -> Value
  ) async throws(SinkFailure) -> Value {
    let result: Result<Value, SinkFailure>
    do throws(FileError) {
      result = try await calls.run {
        do throws(SinkFailure) { return .success(try step()) } catch { return .failure(error) }
      }
    } catch {
      // The queue itself has no other error.
      throw .unanswered(limit)
    }
    return try result.get()
  }
}

/// Always the same name, so that what a crash has left is found again.
private func draft(of name: String) -> String { ".\(name).hearth-new" }

/// A file with these bytes. It has its owner and its mode before it has a content.
private func create(
  _ draft: String, in folder: Int32, owner: uid_t?, group: gid_t?, sink: SinkSettings, _ bytes: [UInt8]
) throws(SinkFailure) {
  let descriptor = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
  try check(descriptor)
  defer { close(descriptor) }
  if let group { try give(descriptor, to: sink.group, uid_t.max, group) }
  // The umask does not matter then. A file that is given away can be changed no more.
  try check(fchmod(descriptor, sink.mode))
  if let owner { try give(descriptor, to: sink.owner, owner, gid_t.max) }
  var written = 0
  while written < bytes.count {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw count < 0 ? SinkFailure(errno: errno) : .failed("nothing was written") }
    written += count
  }
}

/// `uid_t.max` and `gid_t.max`: as it is (chown(2)). What is so already needs no right.
private func give(_ descriptor: Int32, to name: String?, _ owner: uid_t, _ group: gid_t) throws(SinkFailure) {
  var status = stat()
  try check(fstat(descriptor, &status))
  if owner == uid_t.max || status.st_uid == owner, group == gid_t.max || status.st_gid == group { return }
  guard fchown(descriptor, owner, group) == 0 else {
    throw [EPERM, EINVAL].contains(errno) ? .ownerDenied(name ?? "") : SinkFailure(errno: errno)
  }
}

/// Opens the folder of `path`, and gives it with the file's name.
private func withFolder(
  of path: String, _ body: (Int32, String) throws(SinkFailure) -> Void
) throws(SinkFailure) {
  let slash = path.lastIndex(of: "/") ?? path.startIndex
  let folder = slash == path.startIndex ? "/" : String(path[..<slash])
  let descriptor = hearth_open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
  try check(descriptor)
  defer { hearth_close_file(descriptor) }
  try body(descriptor, String(path[path.index(after: slash)...]))
}

/// In a folder where others may replace files, they could hand a token of their own to whoever reads this one.
private func requireTrust(in folder: Int32) throws(SinkFailure) {
  var status = stat()
  try check(fstat(folder, &status))
  guard status.st_uid == geteuid() || status.st_uid == 0 else {
    throw .folderUnsafe("belongs to user \(status.st_uid): name one of your own")
  }
  guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0 else {
    throw .folderUnsafe("may be written by others: run \"chmod go-w\" on it")
  }
}

/// The type of the file of this name; nil where there is none.
private func kind(of name: String, in folder: Int32) throws(SinkFailure) -> mode_t? {
  var status = stat()
  guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
    if errno == ENOENT { return nil }
    throw SinkFailure(errno: errno)
  }
  return status.st_mode & S_IFMT
}

private func check(_ result: Int32) throws(SinkFailure) {
  guard result >= 0 else { throw SinkFailure(errno: errno) }
}

/// The numbers of users and groups.
private enum Owner {
  /// More than the system's own entries take.
  private static let room = 64 << 10

  static func user(_ name: String) throws(SinkFailure) -> uid_t {
    if let number = uid_t(name) { return number }
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    var buffer = [CChar](repeating: 0, count: room)
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { throw .unknownOwner(name) }
    return entry.pw_uid
  }

  static func group(_ name: String) throws(SinkFailure) -> gid_t {
    if let number = gid_t(name) { return number }
    var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
    var buffer = [CChar](repeating: 0, count: room)
    guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { throw .unknownOwner(name) }
    return entry.gr_gid
  }
}

extension SinkFailure {
  /// The meaning of the errno value of a failed system call.
  fileprivate init(errno number: Int32) {
    switch number {
    case ENOENT, ENOTDIR: self = .folderMissing
    case EACCES, EPERM: self = .denied
    case EROFS: self = .readOnly
    case ENOSPC, EDQUOT: self = .noSpace
    case EISDIR, ELOOP: self = .notRegular
    default: self = .failed(strerror(number).map { String(cString: $0) } ?? "error \(number)")
    }
  }
}
