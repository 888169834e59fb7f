import Glibc

enum WholeFile {
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written) }
      if count > 0 {
        written += count
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// Returns whether the path exists, even if it is a broken link.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Creates a file that only its owner can access and syncs it to disk. Returns false and sets errno on failure. Does
  /// not change an existing file (EEXIST).
  static func create(_ bytes: [UInt8], at path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard write(bytes, to: descriptor), fsync(descriptor) == 0 else {
      let code = errno
      unlink(path)
      errno = code
      return false
    }
    return true
  }

  /// Reads everything. Returns `nil` if that fails or if there are more than `limit` bytes.
  static func read(_ descriptor: Int32, limit: Int = .max) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR {
        return nil
      }
    }
    return nil
  }
}

func reason() -> String { String(cString: strerror(errno)) }
