import Crypto
import Glibc
import Synchronization

/// A 256-bit key in its own memory page, which is locked (mlock), left out of core dumps and forks, and overwritten
/// when the key is wiped or released.
final class SealingKey: Sendable {
  static let byteCount = 32

  private struct Page: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let size: Int
  }

  /// `nil` once the key has been wiped.
  private let page: Mutex<Page?>

  /// Returns `nil` if there is no memory, or if `key` has another size. A page that cannot be locked (the system limits
  /// that) is used nevertheless.
  init?(_ key: SymmetricKey) {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard key.bitCount == Self.byteCount * 8,
      let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | Int32(MAP_ANONYMOUS), -1, 0),
      address != MAP_FAILED
    else { return nil }
    mlock(address, size)
    madvise(address, size, MADV_DONTDUMP)
    madvise(address, size, MADV_WIPEONFORK)
    key.withUnsafeBytes { address.copyMemory(from: $0.baseAddress!, byteCount: Self.byteCount) }
    page = Mutex(Page(address: address, size: size))
  }

  deinit { wipe() }

  /// Overwrites the key. `symmetricKey` is `nil` afterwards.
  func wipe() {
    page.withLock { page in
      guard let old = page else { return }
      explicit_bzero(old.address, old.size)
      munmap(old.address, old.size)
      page = nil
    }
  }

  /// The key for one use. The copy is overwritten when it is released.
  var symmetricKey: SymmetricKey? {
    page.withLock { page in
      page.map { page in
        SymmetricKey(data: UnsafeRawBufferPointer(start: page.address, count: Self.byteCount))
      }
    }
  }
}
