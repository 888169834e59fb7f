import Crypto
import CryptoExtras
import FoundationEssentials

/// A private key that signs JWTs (RFC 7518, section 3.1; RFC 8037, section 3.1).
enum SigningKey {
  case p256(P256.Signing.PrivateKey)
  case rsa(_RSA.Signing.PrivateKey)
  case ed25519(Curve25519.Signing.PrivateKey)

  /// Reads the first private key in PEM text, in PKCS#8 (RFC 5208), PKCS#1 (RFC 8017) or SEC1 (RFC 5915) format.
  init(pem text: String) throws {
    guard let block = PEM.blocks(in: text).first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
      throw Reason("it contains no private key in PEM format (a PRIVATE KEY block)")
    }
    if block.label.hasPrefix("ENCRYPTED") || block.text.contains("Proc-Type: 4,ENCRYPTED") {
      throw Reason(
        "it is protected by a passphrase, which Hearth does not support; store the key without a passphrase")
    }
    if let seed = Self.ed25519Seed(in: block), let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) {
      self = .ed25519(key)
    } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: block.text) {
      self = .p256(key)
    } else if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: block.text) {
      self = .rsa(key)
    } else {
      throw Reason("it contains no valid EC P-256, Ed25519 or RSA key (RSA needs at least 2048 bits)")
    }
  }

  /// Returns the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410, section 7), which swift-crypto cannot read. Returns
  /// `nil` for other keys.
  private static func ed25519Seed(in block: PEM.Block) -> Data? {
    guard let der = block.bytes.map(Array.init), der.count >= 48 else { return nil }
    // SEQUENCE { version, SEQUENCE { OID 1.3.101.112 }, OCTET STRING { OCTET STRING of 32 bytes } … }
    let middle: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
    return der[5...].starts(with: middle) ? Data(der[16..<48]) : nil
  }

  /// The algorithms that the key supports, most common first.
  var algorithms: [String] {
    switch self {
    case .p256: ["ES256"]
    case .rsa: ["RS256", "PS256"]
    // RFC 9864 renames EdDSA with this curve to "Ed25519".
    case .ed25519: ["EdDSA", "Ed25519"]
    }
  }

  /// Returns a JWS signature (RFC 7515, section 5.1). `algorithm` must be one of `algorithms`.
  func sign(_ input: [UInt8], algorithm: String) throws -> [UInt8] {
    switch self {
    case .p256(let key): Array(try key.signature(for: input).rawRepresentation)
    case .ed25519(let key): Array(try key.signature(for: input))
    case .rsa(let key):
      Array(
        try key.signature(
          for: SHA256.hash(data: input), padding: algorithm == "PS256" ? .PSS : .insecurePKCS1v1_5
        ).rawRepresentation)
    }
  }
}
