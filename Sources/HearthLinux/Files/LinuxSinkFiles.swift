import CLinux
import Glibc
package import HearthCore
internal import Synchronization

/// One sink's token file. Each step opens the folder and works relative to its descriptor, so that replacing the folder
/// at its path does not affect the step. Each sink has its own instance, so a mount that hangs does not delay other
/// sinks.
///
/// Nothing is synced to disk, because Hearth rewrites the token after a power loss.
package final class LinuxSinkFiles: SinkFiles {
  private let calls: BlockingCallQueue<SinkFailure>
  /// The mark of the last file written, or the marks of all files that an earlier run may have written. Empty if the
  /// file was removed or its mark is unknown.
  private let written: Mutex<[SinkMark]>

  /// `marks` identify the files that an earlier run may have written. A step that takes longer than `limit` throws
  /// `unanswered`.
  package init(marks: [SinkMark] = [], limit: Duration = .seconds(5)) {
    written = Mutex(marks)
    calls = BlockingCallQueue(limit: limit)
  }

  package func place(of path: String) async throws(SinkFailure) -> SinkPlace {
    try await calls.run { try SinkFolder.place(of: path) }
  }

  package func requireFree(for sink: SinkSettings) async throws(SinkFailure) {
    try await calls.run {
      try SinkFolder.open(of: sink.path) { folder, name in
        guard try SinkFolder.status(of: name, in: folder).map({ sink.mayFill($0) }) ?? true else {
          throw SinkFailure.occupied
        }
      }
    }
  }

  package func begin(at sink: SinkSettings) async throws(SinkFailure) -> SinkMark {
    try await calls.run {
      let owner = try sink.owner.map(userID)
      if let group = sink.group { _ = try groupID(group) }
      try SinkFolder.requireTrust(of: sink.path)
      return try SinkFolder.open(of: sink.path) { [self] folder, name in
        if let status = try SinkFolder.status(of: name, in: folder) {
          guard status.st_mode & S_IFMT == S_IFREG else { throw SinkFailure.notRegular }
          guard
            sink.mayFill(status) || [geteuid(), owner].contains(status.st_uid) && isWritten(name, in: folder)
          else { throw SinkFailure.occupied }
          if sink.isInPlace { return try claim(name, in: folder) }
        }
        let new = sink.isInPlace ? name : draft(of: name)
        if !sink.isInPlace { _ = unlinkat(folder, new, 0) }
        let descriptor = try SinkFolder.check(
          openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        close(descriptor)
        if sink.isInPlace { return try claim(name, in: folder) }
        guard let mark = sinkMark(of: new, in: folder) else { throw SinkFailure.folderMissing }
        return mark
      }
    }
  }

  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    try await calls.run {
      let owner = try sink.owner.map(userID)
      let group = try sink.group.map(groupID)
      // Sets the owner and mode before writing the content, so that no unintended user can ever read it.
      func fill(_ descriptor: Int32) throws {
        if let group { try give(descriptor, to: sink.group, uid_t.max, group) }
        // Sets the mode regardless of the umask, and before the owner, because only the owner can change the mode.
        try SinkFolder.check(fchmod(descriptor, sink.mode))
        if let owner { try give(descriptor, to: sink.owner, owner, gid_t.max) }
        try SinkFolder.write(bytes, to: descriptor)
      }
      try SinkFolder.open(of: sink.path) { [self] folder, name in
        if sink.isInPlace { return try rewrite(name, in: folder, content: fill) }
        let draft = draft(of: name)
        do {
          let mark = sinkMark(of: draft, in: folder)
          try withFile(draft, in: folder, fill)
          try SinkFolder.check(renameat(folder, draft, folder, name))
          written.withLock { $0 = [mark].compactMap(\.self) }
        } catch {
          _ = unlinkat(folder, draft, 0)
          throw error
        }
      }
    }
  }

  package func remove(_ path: String, keepingFile: Bool) async throws(SinkFailure) {
    try await calls.run { [self] in
      do {
        try SinkFolder.open(of: path) { folder, name in
          for (name, isDraft) in [(draft(of: name), true), (name, false)] {
            guard let status = try SinkFolder.status(of: name, in: folder), status.st_mode & S_IFMT == S_IFREG,
              isDraft || isWritten(name, in: folder), geteuid() == 0 || status.st_uid == geteuid()
            else { continue }
            if keepingFile, !isDraft {
              try rewrite(name, in: folder)
              continue
            }
            guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw SinkFailure(errno: errno) }
          }
        }
      } catch SinkFailure.folderMissing {
        // If the folder is gone, so is the file.
      }
      if !keepingFile { written.withLock { $0 = [] } }
    }
  }

  /// Records the file as the one to rewrite in place, and returns its mark.
  private func claim(_ name: String, in folder: Int32) throws -> SinkMark {
    guard let mark = sinkMark(of: name, in: folder) else { throw SinkFailure.folderMissing }
    written.withLock { $0 = [mark] }
    return mark
  }

  /// Truncates a claimed file and writes `content`. Throws if another program has locked the file (flock(2)), so that
  /// readers that lock the file never see partial content. Without `content`, ignores the lock, so that no reader can
  /// block the token's removal.
  private func rewrite(_ name: String, in folder: Int32, content: ((Int32) throws -> Void)? = nil) throws {
    let descriptor = try SinkFolder.check(openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC))
    // Closing the descriptor also releases the lock.
    defer { close(descriptor) }
    guard let mark = sinkMark(of: "", in: descriptor), written.withLock({ $0.isEmpty || $0.contains(mark) }) else {
      throw SinkFailure.occupied
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK, content != nil {
      throw SinkFailure.failed("another program has locked it")
    }
    try SinkFolder.check(ftruncate(descriptor, 0))
    do {
      try content?(descriptor)
    } catch {
      ftruncate(descriptor, 0)
      throw error
    }
  }

  /// Returns false only if the marks show that Hearth did not write the file.
  private func isWritten(_ name: String, in folder: Int32) -> Bool {
    written.withLock { $0.isEmpty || sinkMark(of: name, in: folder).map($0.contains) ?? true }
  }
}

/// Returns the name of the temporary file. The name is always the same, so that the next run finds a file left by a
/// crash.
private func draft(of name: String) -> String { ".\(name).hearth-new" }

/// Opens a file for writing, runs `body` and closes the file.
private func withFile(_ name: String, in folder: Int32, _ body: (Int32) throws -> Void) throws {
  let descriptor = try SinkFolder.check(openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC))
  let result = Result { try body(descriptor) }
  // Network file systems may report a failed write only on close. The descriptor is closed even after EINTR, so EINTR
  // is not a failure.
  let code = close(descriptor) == 0 ? 0 : errno
  try result.get()
  guard [0, EINTR].contains(code) else { throw SinkFailure(errno: code) }
}

/// Changes the owner or group. `uid_t.max` and `gid_t.max` leave the value unchanged (chown(2)). Skips the system call
/// if both are already correct, because it needs privileges.
private func give(_ descriptor: Int32, to name: String?, _ owner: uid_t, _ group: gid_t) throws {
  var status = stat()
  try SinkFolder.check(fstat(descriptor, &status))
  if owner == uid_t.max || status.st_uid == owner, group == gid_t.max || status.st_gid == group { return }
  guard fchown(descriptor, owner, group) == 0 else {
    throw [EPERM, EINVAL].contains(errno) ? SinkFailure.ownerDenied(name ?? "") : SinkFailure(errno: errno)
  }
}

extension SinkSettings {
  /// Returns whether the sink can use a file that Hearth did not create. With `in_place`, this is an empty file that
  /// this user owns, such as one that the user created as the target of a bind mount.
  fileprivate func mayFill(_ status: stat) -> Bool {
    isInPlace && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 && status.st_uid == geteuid()
  }
}

/// Returns a mark that consists of the file's inode and birth time, but not the device number, which can change on
/// reboot.
private func sinkMark(of name: String, in folder: Int32) -> SinkMark? {
  var numbers: [UInt64] = [0, 0, 0]
  guard hearth_identify_file(folder, name, AT_SYMLINK_NOFOLLOW, &numbers) == 0 else { return nil }
  return "\(numbers[1])-\(numbers[2])"
}

/// Buffer size in bytes, which is enough for all but extreme entries of users and groups.
private let entrySize = 64 << 10

private func userID(_ name: String) throws -> uid_t {
  if let number = uid_t(name) { return number }
  var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
  var buffer = [CChar](repeating: 0, count: entrySize)
  guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
    throw SinkFailure.unknownOwner(name)
  }
  return entry.pw_uid
}

private func groupID(_ name: String) throws -> gid_t {
  if let number = gid_t(name) { return number }
  var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
  var buffer = [CChar](repeating: 0, count: entrySize)
  guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
    throw SinkFailure.unknownOwner(name)
  }
  return entry.gr_gid
}
