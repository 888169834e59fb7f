import Glibc

/// A file as a whole, by its descriptor.
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

  /// Makes a file for its owner alone, on disk when this returns. False, with errno, where it cannot be made; what is there
  /// already is left as it is (EEXIST).
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

  /// It is nil if it cannot be read, or there is more than `limit`, in bytes.
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

/// The error of the last system call that failed, in words.
func reason() -> String { String(cString: strerror(errno)) }
