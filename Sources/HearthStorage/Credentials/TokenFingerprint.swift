import Crypto
package import HearthCore

extension Fingerprint {
  /// The first 8 hex digits of the SHA-256 of a token.
  package init(of token: Secret) {
    let digits = Array("0123456789abcdef")
    let digest = SHA256.hash(data: Array(token.reveal().utf8))
    let text = digest.prefix(4).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    guard let fingerprint = Fingerprint(String(text)) else { preconditionFailure("hex digits make a fingerprint") }
    self = fingerprint
  }
}

extension Token {
  package init(_ text: String) {
    let secret = Secret(text)
    self.init(secret: secret, fingerprint: Fingerprint(of: secret))
  }
}
