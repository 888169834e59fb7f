import Crypto
import FoundationEssentials
import NIOSSL

/// A public key that a server's chain must have: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4).
package struct CertificatePin: Hashable, Sendable, CustomStringConvertible {
  private let digest: [UInt8]

  /// Reads `sha256/BASE64`; nil where the text is not of this form.
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

/// TLS to a server whose chain must contain one of these keys, besides the checks for every server.
struct PinnedTLS: Sendable {
  let configuration: TLSConfiguration
  /// Nil where the host of the URL is an address.
  let serverName: String?
  /// Not empty.
  let pins: Set<CertificatePin>

  /// A chain that is trusted and has none of the keys.
  struct Mismatch: Error, CustomStringConvertible {
    let pins: Set<CertificatePin>
    /// From the root to the server's own.
    let chain: [CertificatePin]

    var description: String {
      let wanted = pins.map(\.description).sorted().joined(separator: ", ")
      let shown = chain.reversed().map(\.description).joined(separator: ", ")
      return "it proves none of the keys in certificate_pins (\(wanted)); its own and those above it are \(shown)"
    }
  }

  func check(_ chain: [CertificatePin]) throws(Mismatch) {
    guard pins.isDisjoint(with: chain) else { return }
    throw Mismatch(pins: pins, chain: chain)
  }
}
