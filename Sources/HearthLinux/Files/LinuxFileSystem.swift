import CLinux
import Glibc
package import HearthCore

/// Accesses files with system calls. Every call closes its descriptors, because an open descriptor would prevent users
/// from unmounting the volume.
///
/// Each account has its own instance, so a mount that hangs does not delay other accounts.
package struct LinuxFileSystem: FileSystem {
  private let calls: BlockingCallQueue<FileError>

  /// A call that takes longer than `limit` throws `unanswered`.
  package init(limit: Duration = .seconds(10)) {
    calls = BlockingCallQueue(limit: limit)
  }

  package func read(_ path: String, limit: Int, followsLink: Bool) async throws(FileError) -> FileContents {
    try await calls.run {
      // Without O_NONBLOCK, opening a FIFO blocks until a writer opens it.
      let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (followsLink ? 0 : O_NOFOLLOW)
      return try withDescriptor(path, flags) { descriptor in
        let status = FileStatus(try systemStatus(of: descriptor))
        guard status.kind == .file else { throw FileError.notRegular }
        guard status.size <= limit else { throw FileError.tooBig }
        return (bytes: try readAll(descriptor, limit: limit), status: status)
      }
    }
  }

  package func status(_ path: String) async throws(FileError) -> FileStatus {
    try await calls.run {
      var status = stat()
      try check(lstat(path, &status))
      return FileStatus(status)
    }
  }

  package func target(ofLink path: String) async throws(FileError) -> String {
    try await calls.run { try linkTarget(of: path) }
  }

  package func names(in folder: String) async throws(FileError) -> [String] {
    try await calls.run {
      let descriptor = try check(hearth_open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
      guard let stream = fdopendir(descriptor) else {
        hearth_close_file(descriptor)
        throw FileError(errno: errno)
      }
      defer { closedir(stream) }
      var names: [String] = []
      errno = 0
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
        errno = 0
      }
      guard errno == 0 else { throw FileError(errno: errno) }
      return names
    }
  }

  package func createFile(_ path: String) async throws(FileError) {
    try await calls.run {
      try withDescriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) { descriptor in
        // Sets the mode regardless of the umask.
        try check(fchmod(descriptor, 0o600))
      }
    }
  }

  package func allocate(_ path: String, bytes: Int) async throws(FileError) {
    try await calls.run {
      try withOwnFile(path) { descriptor in
        let number = posix_fallocate(descriptor, 0, bytes)
        guard number == 0 else { throw FileError(errno: number) }
      }
    }
  }

  package func write(_ bytes: [UInt8], to path: String) async throws(FileError) {
    try await calls.run {
      try withOwnFile(path) { descriptor in
        var written = 0
        while written < bytes.count {
          let count = bytes.withUnsafeBytes { buffer in
            pwrite(descriptor, buffer.baseAddress! + written, buffer.count - written, written)
          }
          if count < 0, errno == EINTR { continue }
          written += try check(count)
        }
        try check(ftruncate(descriptor, bytes.count))
      }
    }
  }

  package func syncFile(_ path: String) async throws(FileError) {
    try await calls.run {
      try withOwnFile(path) { descriptor in try check(fsync(descriptor)) }
    }
  }

  package func rename(_ path: String, to newPath: String) async throws(FileError) {
    try await calls.run { try check(Glibc.rename(path, newPath)) }
  }

  package func syncFolder(_ path: String) async throws(FileError) {
    try await calls.run {
      try withDescriptor(path.isEmpty ? "/" : path, O_RDONLY | O_DIRECTORY) { descriptor in
        // Some file systems do not support fsync on folders and offer no replacement, so this error is ignored.
        guard fsync(descriptor) == 0 || [EINVAL, ENOSYS, ENOTSUP].contains(errno) else {
          throw FileError(errno: errno)
        }
      }
    }
  }

  package func removeFile(_ path: String) async throws(FileError) {
    try await calls.run { try check(unlink(path)) }
  }

  package func createFolder(_ path: String) async throws(FileError) {
    try await calls.run { try check(mkdir(path, 0o700)) }
  }

  package func setMode(_ path: String, to mode: UInt32) async throws(FileError) {
    try await calls.run {
      try withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { descriptor in
        try check(fchmod(descriptor, mode))
      }
    }
  }
}

/// Returns the target of a symbolic link as written in the link.
func linkTarget(of path: String) throws -> String {
  var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = try check(readlink(path, &buffer, buffer.count))
  return String(decoding: buffer[..<count], as: UTF8.self)
}

/// Returns the result of a system call. Throws the error for `errno` if the result is negative.
@discardableResult
private func check<Number: SignedInteger>(_ result: Number) throws -> Number {
  guard result >= 0 else { throw FileError(errno: errno) }
  return result
}

private func systemStatus(of descriptor: Int32) throws -> stat {
  var status = stat()
  try check(fstat(descriptor, &status))
  return status
}

/// Opens a file, runs `body` and closes the file. New files have mode 0600. Falls back to a reserved descriptor if the
/// process has run out of descriptors, so that credentials can still be read and written.
private func withDescriptor<Value>(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Value) throws -> Value {
  let descriptor = try check(hearth_open_file(path, flags | O_CLOEXEC, 0o600))
  let result = Result { try body(descriptor) }
  // Network file systems may report a failed write only on close. The descriptor is closed even after EINTR, so EINTR
  // is not a failure.
  let code = hearth_close_file(descriptor) == 0 ? 0 : errno
  let value = try result.get()
  guard [0, EINTR].contains(code) else { throw FileError(errno: code) }
  return value
}

/// Opens a regular file for writing. Throws if another user owns the file or if it has more than one hard link.
private func withOwnFile<Value>(_ path: String, _ body: (Int32) throws -> Value) throws -> Value {
  try withDescriptor(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW) { descriptor in
    let status = try systemStatus(of: descriptor)
    guard FileStatus(status).kind == .file, status.st_nlink == 1 else { throw FileError.notRegular }
    guard FileStatus(status).isOwn else { throw FileError.notOwn }
    return try body(descriptor)
  }
}

/// Reads to the end of the file. Throws `tooBig` if the file is larger than `limit`.
func readAll(_ descriptor: Int32, limit: Int = .max) throws -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 16 << 10)
  while true {
    let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress!, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard try check(count) > 0 else { return bytes }
    bytes += buffer[..<count]
    guard bytes.count <= limit else { throw FileError.tooBig }
  }
}

extension FileError: BlockingCallFailure {
  init(errno number: Int32) {
    let text = String(cString: strerror(number))
    switch number {
    case ENOENT: self = .absent
    case EEXIST, ENOTEMPTY: self = .exists
    case EACCES, EPERM: self = .permissionDenied
    case ENOTCONN, ESTALE, ENODEV, ENXIO, ENOMEDIUM, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, ECONNABORTED,
      ECONNREFUSED, ESHUTDOWN, EREMOTEIO:
      self = .volumeUnavailable(text)
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED: self = .keyUnavailable(text)
    case ENOSPC, EDQUOT: self = .noSpace
    case ELOOP: self = .symbolicLink
    default: self = .failed(text)
    }
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    self.init(
      kind: kind, isOwn: status.st_uid == geteuid(), mode: status.st_mode & 0o7777, size: Int(status.st_size),
      modified: Timestamp(
        milliseconds: Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000),
      inode: UInt64(status.st_ino))
  }
}
