internal import CLinux
internal import Glibc
internal import HearthCore
internal import Synchronization

/// Reserved disk space that is released when the disk is full, so that results of deliveries can still be written.
final class DiskReserve: Sendable {
  private static let sizes = 256 << 10...4 << 20

  /// The minimum allocation, in bytes. The write-ahead log usually grows by at most this size between two checkpoints.
  let size: Int
  private let path: String
  private let allocated = Mutex(0)
  /// The reason why the reserve's file could not be opened, or `nil` if it was opened or the disk was full.
  private let obstacle = Mutex<String?>(nil)

  /// `size` is in bytes. If it is `nil`, the reserve is a sixteenth of the disk, within limits, so that a small disk
  /// has room for other data too.
  init(_ path: String, size: Int? = nil) {
    self.path = path
    self.size = size ?? Self.share(ofDiskUnder: path)
  }

  private static func share(ofDiskUnder path: String) -> Int {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return sizes.upperBound }
    let disk = Int(clamping: UInt64(status.f_blocks)) / 16 * Int(status.f_frsize)
    return min(max(disk, sizes.lowerBound), sizes.upperBound)
  }

  var isAllocated: Bool { allocated.withLock { $0 > 0 } }

  /// Changes the reserve's size to `bytes`, rounded up to a positive multiple of `size`. Returns false and changes
  /// nothing if there is not enough space or the file cannot be opened.
  func allocate(_ bytes: Int = 0) -> Bool {
    let wanted = max(bytes + size - 1, size) / size * size
    return allocated.withLock { allocated in
      if allocated == wanted { return true }
      let descriptor = hearth_open_file(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      let code = errno
      obstacle.withLock { $0 = descriptor < 0 ? Self.obstacle(code) : nil }
      guard descriptor >= 0 else { return false }
      defer { hearth_close_file(descriptor) }
      let isAllocated = wanted < allocated || posix_fallocate(descriptor, 0, off_t(wanted)) == 0
      if isAllocated { allocated = wanted }
      if allocated == 0 { unlink(path) } else { ftruncate(descriptor, off_t(allocated)) }
      return isAllocated
    }
  }

  /// Returns the failure to report while the reserve cannot be allocated.
  func failure(of file: OutboxFile) -> OutboxStoreFailure {
    guard let obstacle = obstacle.withLock(\.self) else { return .full(file) }
    return .unavailable("The outbox accepts no items, because its reserve file \(path) \(obstacle).")
  }

  private static func obstacle(_ code: Int32) -> String? {
    switch code {
    case ENOSPC, EDQUOT: nil
    case ELOOP: "is a symbolic link; rename or remove it"
    case EISDIR: "is a folder; rename or remove it"
    default: "cannot be opened: \(String(cString: strerror(code)))"
    }
  }

  func release() {
    allocated.withLock { allocated in
      unlink(path)
      allocated = 0
    }
  }
}
