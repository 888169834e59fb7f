import Crypto
package import HearthCore

extension Token {
  /// Names the token by the first 8 hex digits of its SHA-256.
  ///
  /// Fingerprints are remembered on disk, so that all who read tokens must hash them alike. Core imports nothing, and the
  /// command line, which uses Core and Control, would carry the cryptography for nothing.
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
