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
    while bytes.count <= limit {
      guard let piece = piece(descriptor) else { return nil }
      if piece.isEmpty { return bytes }
      bytes += piece
    }
    return nil
  }

  /// Reads the next bytes, at most 64 KiB. Returns an empty array at end of file. Returns `nil` and sets errno on
  /// failure.
  static func piece(_ descriptor: Int32) -> [UInt8]? {
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count >= 0 { return Array(piece.prefix(count)) }
      if errno != EINTR { return nil }
    }
  }
}

func reason() -> String { String(cString: strerror(errno)) }
