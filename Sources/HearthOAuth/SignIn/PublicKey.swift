import HearthCore
import JWTKit

/// A key from a provider's JWK Set (RFC 7517, section 4).
struct PublicKey: Hashable {
  let id: String?
  private let fields: JSONValue

  /// Returns `nil` if the value is not a signing key.
  init?(_ value: JSONValue) {
    guard value.object != nil, value["use"]?.text ?? "sig" == "sig" else { return nil }
    (id, fields) = (value["kid"]?.text, value)
  }

  /// The accepted public-key algorithms for ID tokens, with the type and curve of their keys (RFC 7518, section 3.1;
  /// RFC 8037, section 3.1; RFC 9864).
  private static let types: [String: (type: String, curve: String?)] = [
    "RS256": ("RSA", nil), "RS384": ("RSA", nil), "RS512": ("RSA", nil),
    "PS256": ("RSA", nil), "PS384": ("RSA", nil), "PS512": ("RSA", nil),
    "ES256": ("EC", "P-256"), "ES384": ("EC", "P-384"), "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"), "Ed25519": ("OKP", "Ed25519"),
  ]

  static func knows(_ algorithm: String) -> Bool { types[algorithm] != nil }

  /// Returns whether the key's type, curve and `alg` allow this algorithm.
  func fits(_ algorithm: String) -> Bool {
    guard let (type, curve) = Self.types[algorithm], fields["kty"]?.text == type, fields["crv"]?.text == curve else {
      return false
    }
    let own = fields["alg"]?.text ?? algorithm
    return Self.plain(own) == Self.plain(algorithm)
  }

  func verifies(_ signature: [UInt8], of bytes: [UInt8], by algorithm: String) async -> Bool {
    let name = Self.plain(algorithm)
    guard fits(algorithm), let jwkAlgorithm = JWK.Algorithm(rawValue: name) else { return false }
    let identifier = JWKIdentifier(string: "key")
    let (x, y) = (fields["x"]?.text, fields["y"]?.text)
    let jwk: JWK
    switch fields["kty"]?.text {
    case "RSA":
      jwk = .rsa(jwkAlgorithm, identifier: identifier, modulus: fields["n"]?.text, exponent: fields["e"]?.text)
    case "EC": jwk = .ecdsa(jwkAlgorithm, identifier: identifier, x: x, y: y, curve: nil)
    default: jwk = .octetKeyPair(jwkAlgorithm, identifier: identifier, x: x, y: nil, curve: .ed25519)
    }
    do {
      let keys = JWTKeyCollection()
      try await keys.add(jwk: jwk)
      return try await keys.getKey(for: identifier, alg: name).verify(signature, signs: bytes)
    } catch {
      // A malformed key cannot verify anything, so the signature counts as invalid.
      return false
    }
  }

  private static func plain(_ algorithm: String) -> String { algorithm == "Ed25519" ? "EdDSA" : algorithm }
}
