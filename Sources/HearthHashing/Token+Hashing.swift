import Crypto
package import HearthCore

extension Token {
  /// Makes a token whose fingerprint is the first 8 hex digits of the secret's SHA-256.
  ///
  /// Fingerprints are stored on disk, so all code that reads tokens must hash them alike. This is not in Core, which
  /// imports nothing, and would burden the command line, which uses only Core and Control, with the cryptography.
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
