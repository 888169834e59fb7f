import Crypto
import FoundationEssentials
import HearthCore

/// Where the key of a sealed credential comes from, where no person enters it.
protocol KeySource: Sendable {
  /// Failures are of the kind `keyUnavailable`.
  func key() async throws(AccessFailure) -> SealingKey

  /// The file whose appearance may make the key available; nil where there is none.
  var path: String? { get }
}

/// A key from a file of at least 32 bytes, by HKDF-SHA256 (RFC 5869). Read anew for each use and never kept.
struct KeyFile: KeySource {
  let path: String?
  let files: any FileSystem

  func key() async throws(AccessFailure) -> SealingKey {
    guard let path else { throw AccessFailure(.keyUnavailable, detail: "no key file is configured") }
    let bytes: [UInt8]
    do {
      bytes = try await files.read(path, limit: 1 << 20, followsLink: true).bytes
    } catch {
      throw AccessFailure(.keyUnavailable, detail: "key file " + AccessFailure(error, at: path).detail)
    }
    guard bytes.count >= SealingKey.byteCount else {
      throw AccessFailure(.keyUnavailable, detail: "key file \(path) has less than \(SealingKey.byteCount) bytes")
    }
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: bytes), info: Array("hearth credential key".utf8),
      outputByteCount: SealingKey.byteCount)
    guard let sealingKey = SealingKey(key) else {
      throw AccessFailure(.keyUnavailable, detail: "no memory for the key")
    }
    return sealingKey
  }
}

/// Where the configuration names the Secret Service of the desktop, which is not implemented: no key is available.
struct SecretServiceKey: KeySource {
  var path: String? { nil }

  func key() async throws(AccessFailure) -> SealingKey {
    throw AccessFailure(.keyUnavailable, detail: "protection \"secret-service\" is not available in this version")
  }
}
