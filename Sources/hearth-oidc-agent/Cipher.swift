import CSodium
import HearthControl

/// Encrypts one exchange with a client. Uses NaCl's crypto_box (X25519, XSalsa20, Poly1305) with keys for this exchange
/// only. Messages have the form `length:nonce:ciphertext`, with nonce and ciphertext in Base64.
final class Cipher {
  /// The length of a public key in Base64.
  static let encodedKeyLength = 44
  private static let nonceLength = Int(crypto_secretbox_NONCEBYTES)
  private static let encodedNonceLength = nonceLength / 3 * 4
  private static let macLength = Int(crypto_secretbox_MACBYTES)
  private static let keyLength = Int(crypto_box_BEFORENMBYTES)
  /// The maximum number of digits in the `length` of a message.
  private static let longestNumber = 8

  /// The agent's public key in Base64, for the client.
  let publicKey: String
  /// The shared key. libsodium locks its memory if possible, and wipes it before freeing it.
  private let key: UnsafeMutableRawPointer

  /// Creates keys for an exchange. `peer` is the client's public key in Base64. Returns `nil` if `peer` is invalid or
  /// insecure.
  init?(peer: String) {
    guard sodium_init() >= 0, let peer = Base64.decode(peer), peer.count == Int(crypto_box_PUBLICKEYBYTES),
      let key = sodium_malloc(Self.keyLength)
    else { return nil }
    var publicKey = [UInt8](repeating: 0, count: Int(crypto_box_PUBLICKEYBYTES))
    var secretKey = [UInt8](repeating: 0, count: Int(crypto_box_SECRETKEYBYTES))
    defer { sodium_memzero(&secretKey, secretKey.count) }
    guard crypto_box_keypair(&publicKey, &secretKey) == 0,
      crypto_box_beforenm(key.assumingMemoryBound(to: UInt8.self), peer, secretKey) == 0
    else {
      sodium_free(key)
      return nil
    }
    self.publicKey = Base64.encode(publicKey)
    self.key = key
  }

  deinit { sodium_free(key) }

  func seal(_ message: [UInt8]) -> String {
    var nonce = [UInt8](repeating: 0, count: Self.nonceLength)
    randombytes_buf(&nonce, nonce.count)
    var sealed = [UInt8](repeating: 0, count: message.count + Self.macLength)
    crypto_secretbox_easy(&sealed, message, UInt64(message.count), nonce, key.assumingMemoryBound(to: UInt8.self))
    return "\(message.count):\(Base64.encode(nonce)):\(Base64.encode(sealed))"
  }

  /// Returns the message, or `nil` if `text` is incomplete.
  func open(_ text: ArraySlice<UInt8>) throws -> [UInt8]? {
    let colon = UInt8(ascii: ":")
    guard let end = text.prefix(Self.longestNumber + 1).firstIndex(of: colon) else {
      if text.count > Self.longestNumber { throw Failure.undecryptable }
      return nil
    }
    let length = Int(String(decoding: text[..<end], as: UTF8.self))
    guard let length, length >= 0 else { throw Failure.undecryptable }
    let rest = text[(end + 1)...]
    let nonce = rest.prefix(Self.encodedNonceLength)
    guard rest.count > nonce.count else { return nil }
    guard rest[nonce.endIndex] == colon else { throw Failure.undecryptable }
    let sealed = rest[(nonce.endIndex + 1)...]
    // Accept more bytes than declared, because some clients declare the length in characters instead of bytes.
    guard sealed.count >= (length + Self.macLength + 2) / 3 * 4 else { return nil }
    return try message(in: sealed, nonce)
  }

  private func message(in sealed: ArraySlice<UInt8>, _ nonce: ArraySlice<UInt8>) throws -> [UInt8] {
    guard let nonce = Base64.decode(String(decoding: nonce, as: UTF8.self)), nonce.count == Self.nonceLength,
      let sealed = Base64.decode(String(decoding: sealed, as: UTF8.self)), sealed.count >= Self.macLength
    else { throw Failure.undecryptable }
    var message = [UInt8](repeating: 0, count: sealed.count - Self.macLength)
    let key = key.assumingMemoryBound(to: UInt8.self)
    guard crypto_secretbox_open_easy(&message, sealed, UInt64(sealed.count), nonce, key) == 0 else {
      throw Failure.undecryptable
    }
    return message
  }
}
