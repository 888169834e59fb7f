import Crypto
import FoundationEssentials
import NIOSSL

/// A pin for a public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4).
package struct CertificatePin: Hashable, Sendable, CustomStringConvertible {
  private let digest: [UInt8]

  /// Parses `sha256/BASE64`. Returns `nil` if the text does not have this form.
  package init?(_ text: String) {
    let prefix = "sha256/"
    guard text.hasPrefix(prefix), let digest = Data(base64Encoded: String(text.dropFirst(prefix.count))),
      digest.count == SHA256.byteCount
    else { return nil }
    self.digest = Array(digest)
  }

  init(of certificate: NIOSSLCertificate) throws {
    digest = Array(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
  }

  package var description: String { "sha256/" + Data(digest).base64EncodedString() }
}
