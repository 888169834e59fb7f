import Crypto
package import HearthCore

extension Token {
  /// Creates a token with its fingerprint, the first 8 hex digits of the secret's SHA-256.
  ///
  /// Fingerprints are stored on disk, so everything that reads tokens must use this function. The function is not in
  /// Core, because hearthctl would then have to link the cryptography library.
  package init(hashing secret: Secret) {
    let digits = SHA256.hash(data: Array(secret.reveal().utf8)).prefix(4).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    guard let fingerprint = Fingerprint(digits.joined()) else {
      preconditionFailure("four bytes are eight hex digits")
    }
    self.init(secret: secret, fingerprint: fingerprint)
  }
}
