import Crypto
import Glibc
import HearthCore
import Synchronization

/// A 256-bit key in a separate memory page. The page is locked (mlock) if possible, excluded from core dumps, cleared
/// in forked processes, and overwritten when the key is wiped or released.
final class SealingKey: Sendable {
  static let byteCount = 32

  /// The memory page of the key, or `nil` once the key has been wiped.
  private let page: Mutex<UnsafeMutableRawBufferPointer?>

  /// Returns `nil` if memory is short or `key` has the wrong size. The system limits locked memory, so a page that
  /// cannot be locked is used anyway.
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
    page = Mutex(UnsafeMutableRawBufferPointer(start: address, count: size))
  }

  deinit { wipe() }

  /// Overwrites the key, after which `symmetricKey` is `nil`.
  func wipe() {
    page.withLock { page in
      guard let old = page else { return }
      explicit_bzero(old.baseAddress!, old.count)
      munmap(old.baseAddress, old.count)
      page = nil
    }
  }

  /// A copy of the key for one use, overwritten when released. `nil` once the key has been wiped.
  var symmetricKey: SymmetricKey? {
    page.withLock { page in
      page.map { page in
        SymmetricKey(data: UnsafeRawBufferPointer(start: page.baseAddress, count: Self.byteCount))
      }
    }
  }

  // MARK: - Sealing with AES-256-GCM

  /// Returns the nonce, the ciphertext and the tag, or `nil` if the key has been wiped.
  func seal(_ plaintext: [UInt8], associated: [UInt8]) -> [UInt8]? {
    guard let key = symmetricKey, let box = try? AES.GCM.seal(plaintext, using: key, authenticating: associated)
    else { return nil }
    return box.combined.map { Array($0) }
  }

  /// Returns `nil` if the key is wrong, or if the bytes or the associated data were changed.
  func open(_ sealed: [UInt8], associated: [UInt8]) -> [UInt8]? {
    guard let key = symmetricKey, let box = try? AES.GCM.SealedBox(combined: sealed),
      let plaintext = try? AES.GCM.open(box, using: key, authenticating: associated)
    else { return nil }
    return Array(plaintext)
  }
}

extension FileSystem {
  /// Derives a key by HKDF-SHA256 (RFC 5869) from a file of at least 32 bytes. Throws only `keyUnavailable`.
  func sealingKey(from path: String?) async throws(AccessFailure) -> SealingKey {
    guard let path else { throw AccessFailure(.keyUnavailable, detail: "no key file is configured") }
    // Mask the path, because a user may have configured the key itself by mistake.
    let place = "key file (\(path.withoutContent))"
    let contents: FileContents
    do {
      contents = try await read(path, limit: 1 << 20, followsLink: true)
    } catch {
      throw AccessFailure(.keyUnavailable, detail: AccessFailure(error, at: place).detail)
    }
    guard !contents.status.exposesSecret else {
      throw AccessFailure(
        .keyUnavailable, detail: "other users can read or write the \(place); run \"chmod go=\" on it")
    }
    let bytes = contents.bytes
    guard bytes.count >= SealingKey.byteCount else {
      throw AccessFailure(.keyUnavailable, detail: "the \(place) is shorter than \(SealingKey.byteCount) bytes")
    }
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: bytes), info: Array("hearth credential key".utf8),
      outputByteCount: SealingKey.byteCount)
    guard let sealingKey = SealingKey(key) else {
      throw AccessFailure(.keyUnavailable, detail: "not enough memory for the key")
    }
    return sealingKey
  }
}
