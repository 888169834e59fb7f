import Crypto
import HearthCore

/// A key derived by HKDF-SHA256 (RFC 5869) from a file of at least 32 bytes. The file is read for each use.
struct KeyFile: Sendable {
  let path: String?
  let files: any FileSystem

  /// Throws only `keyUnavailable`.
  func key() async throws(AccessFailure) -> SealingKey {
    guard let path else { throw AccessFailure(.keyUnavailable, detail: "no key file is configured") }
    // Mask the path, because a user may have configured the key itself by mistake.
    let place = "key file (\(path.withoutContent))"
    let contents: FileContents
    do {
      contents = try await files.read(path, limit: 1 << 20, followsLink: true)
    } catch {
      throw AccessFailure(.keyUnavailable, detail: AccessFailure(error, at: place).detail)
    }
    guard !contents.status.exposesSecret else {
      throw AccessFailure(
        .keyUnavailable,
        detail: "other users can read or write the \(place); run \"chmod go=\" on it")
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
