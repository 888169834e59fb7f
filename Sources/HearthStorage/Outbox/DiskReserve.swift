internal import Glibc
internal import Synchronization

/// Room on the disk that is given back when the disk is full, so that what was delivered can be written down.
final class DiskReserve: Sendable {
  private static let sizes = 256 << 10...4 << 20

  /// The least that is held: as much as a write-ahead log takes between two checkpoints.
  let size: Int
  private let path: String
  private let held = Mutex(0)

  /// `size`: in bytes; otherwise a sixteenth of the disk, within limits, so that a small disk has room for more than
  /// this.
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

  var isHeld: Bool { held.withLock { $0 > 0 } }

  /// Allocates room for `bytes`, in multiples of `size`; false where the disk has none: then all stays as it was.
  func hold(_ bytes: Int = 0) -> Bool {
    let wanted = max(bytes + size - 1, size) / size * size
    return held.withLock { held in
      if held == wanted { return true }
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      let isThere = wanted < held || posix_fallocate(descriptor, 0, off_t(wanted)) == 0
      if isThere { held = wanted }
      if held == 0 { unlink(path) } else { ftruncate(descriptor, off_t(held)) }
      return isThere
    }
  }

  func release() {
    held.withLock { held in
      unlink(path)
      held = 0
    }
  }
}
