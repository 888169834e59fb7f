import Crypto
import FoundationEssentials

/// A key for ES256. Tokens and the key set identify the key by its `kid`.
struct SigningKey: Codable, Sendable {
  private let raw: Data

  init() {
    raw = P256.Signing.PrivateKey().rawRepresentation
  }

  /// A public key in a key set (RFC 7517, section 4; RFC 7518, section 6.2).
  struct PublicKey: Codable, Hashable, Sendable {
    var kty = "EC"
    var crv = "P-256"
    var use = "sig"
    var alg = "ES256"
    let kid, x, y: String
  }

  var publicKey: PublicKey? {
    guard let point = try? P256.Signing.PrivateKey(rawRepresentation: raw).publicKey.rawRepresentation else {
      return nil
    }
    let (x, y) = (base64URL(point.prefix(32)), base64URL(point.suffix(32)))
    // The `kid` is the thumbprint (RFC 7638, section 3).
    let thumbprint = SHA256.hash(data: Data(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8))
    return PublicKey(kid: base64URL(Data(thumbprint)), x: x, y: y)
  }

  func signature(of text: String) -> Data {
    let key = try? P256.Signing.PrivateKey(rawRepresentation: raw)
    return (try? key?.signature(for: Data(text.utf8)).rawRepresentation) ?? Data()
  }
}

/// The current signing key, and the previous one, which clients may still need to verify tokens.
struct SigningKeys: Codable, Sendable {
  private(set) var current = SigningKey()
  private var former: [SigningKey] = []

  /// The published key set (RFC 7517, section 5).
  var published: [SigningKey.PublicKey] { ([current] + former).compactMap(\.publicKey) }

  mutating func rotate() {
    former = [current]
    current = SigningKey()
  }
}
