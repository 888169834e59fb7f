import Glibc
import NIOSSL
import SwiftASN1

/// Rejects certificates in a trusted chain that are below OpenSSL's security level 2 (SSL_CTX_set_security_level(3)).
/// This level requires 112 bits of security, which rules out RSA keys below 2048 bits and signatures with SHA-1 or MD5.
///
/// BoringSSL, which verifies the chain, has no security levels.
enum CertificateStrength {
  private static let minimumRSABits = 2048

  /// Throws if a certificate in the chain is too weak. The chain starts with the root.
  static func check(_ chain: [NIOSSLCertificate]) throws {
    for (place, certificate) in chain.enumerated() {
      // A root's signature is irrelevant, because the root itself is trusted.
      guard let weakness = weakness(of: certificate, isRoot: place == 0) else { continue }
      let whose = place == chain.count - 1 ? "the server's certificate" : "a CA certificate in the server's chain"
      throw Reason("TLS failed: \(whose) \(weakness)")
    }
  }

  /// Returns what is weak about the certificate, as a phrase that follows it, or `nil`.
  private static func weakness(of certificate: NIOSSLCertificate, isRoot: Bool) -> String? {
    guard let key = try? DER.parse(certificate.extractPublicKey().toSPKIBytes()),
      let whole = try? DER.parse(certificate.toDERBytes()), let keyAlgorithm = key.part(0)?.identifier,
      let signature = whole.part(1)?.identifier
    else { return unreadable }
    if keyAlgorithm == .rsaKey || keyAlgorithm == .rsaPSSKey {
      guard let bits = key.part(1).flatMap(rsaBits) else { return unreadable }
      if bits < minimumRSABits { return "has an RSA key of \(bits) bits, but \(minimumRSABits) are required" }
    }
    if isRoot || strongSignatures.contains(signature) { return nil }
    return "is signed with \(name(of: signature)), which is too weak"
  }

  private static let unreadable = "cannot be read"

  /// Returns the modulus length, in bits, of the RSAPublicKey (RFC 8017, appendix A.1.1) in a BIT STRING.
  private static func rsaBits(_ bitString: ASN1Node) -> Int? {
    guard let bits = try? ASN1BitString(derEncoded: bitString), let key = try? DER.parse(bits.bytes),
      case .primitive(let modulus)? = key.part(0)?.content
    else { return nil }
    let digits = modulus.drop { $0 == 0 }
    return digits.first.map { digits.count * 8 - $0.leadingZeroBitCount }
  }

  /// The accepted signature algorithms: RSA (RFC 8017), ECDSA (RFC 5758), Ed25519 (RFC 8410) and ML-DSA (RFC 9881).
  /// BoringSSL accepts PSS only with SHA-256 or better.
  private static let strongSignatures: Set<ASN1ObjectIdentifier> = [
    [1, 2, 840, 113549, 1, 1, 10], [1, 2, 840, 113549, 1, 1, 11], [1, 2, 840, 113549, 1, 1, 12],
    [1, 2, 840, 113549, 1, 1, 13], [1, 2, 840, 113549, 1, 1, 14],
    [1, 2, 840, 10045, 4, 3, 1], [1, 2, 840, 10045, 4, 3, 2], [1, 2, 840, 10045, 4, 3, 3], [1, 2, 840, 10045, 4, 3, 4],
    [1, 3, 101, 112],
    [2, 16, 840, 1, 101, 3, 4, 3, 17], [2, 16, 840, 1, 101, 3, 4, 3, 18], [2, 16, 840, 1, 101, 3, 4, 3, 19],
  ]

  private static func name(of signature: ASN1ObjectIdentifier) -> String {
    switch signature {
    case [1, 2, 840, 113549, 1, 1, 5], [1, 2, 840, 10045, 4, 1], [1, 3, 14, 3, 2, 29]: "SHA-1"
    case [1, 2, 840, 113549, 1, 1, 4]: "MD5"
    default: "the algorithm \(signature)"
    }
  }
}

extension ASN1ObjectIdentifier {
  fileprivate static let rsaKey: Self = [1, 2, 840, 113549, 1, 1, 1]
  fileprivate static let rsaPSSKey: Self = [1, 2, 840, 113549, 1, 1, 10]
}

extension ASN1Node {
  fileprivate func part(_ place: Int) -> ASN1Node? {
    guard case .constructed(let parts) = content else { return nil }
    return parts.dropFirst(place).first { _ in true }
  }

  /// The algorithm in an AlgorithmIdentifier (RFC 5280, section 4.1.1.2).
  fileprivate var identifier: ASN1ObjectIdentifier? {
    part(0).flatMap { try? ASN1ObjectIdentifier(derEncoded: $0) }
  }
}

extension Reason {
  /// Describes a certificate in a server's chain that BoringSSL rejects. BoringSSL's error does not include the reason.
  init(untrusted certificate: NIOSSLCertificate) {
    let now = time(nil)
    let text =
      if certificate.notValidAfter < now {
        "a certificate in the server's chain expired on \(Self.day(certificate.notValidAfter)). Check this machine's "
          + "clock. If the clock is right, ask the server's operator to renew the certificate"
      } else if now < certificate.notValidBefore {
        "a certificate in the server's chain is not valid before \(Self.day(certificate.notValidBefore)). Check this "
          + "machine's clock"
      } else {
        // Usually, no trusted authority has signed the certificate.
        "the server's certificate is not from a trusted authority (CERTIFICATE_VERIFY_FAILED). If the authority is "
          + "your own, set the account's \"ca_file\" to its certificate"
      }
    self.init("TLS failed: " + text)
  }

  private static func day(_ seconds: Int) -> String {
    var (seconds, parts) = (seconds, tm())
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
  }
}
