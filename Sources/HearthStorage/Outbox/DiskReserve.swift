internal import Glibc
internal import Synchronization

/// Room on the disk that is given back when the disk is full, so that what was delivered can be written down.
final class DiskReserve: Sendable {
  /// As much as a write-ahead log takes between two checkpoints.
  static let size = 4 << 20

  private let path: String
  private let held = Mutex(false)

  init(_ path: String) {
    self.path = path
  }

  var isHeld: Bool { held.withLock { $0 } }

  /// Allocates the room; false where the disk has none.
  func hold() -> Bool {
    held.withLock { held in
      if held { return true }
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      held = posix_fallocate(descriptor, 0, off_t(Self.size)) == 0
      if !held { unlink(path) }
      return held
    }
  }

  func release() {
    held.withLock { held in
      unlink(path)
      held = false
    }
  }
}
