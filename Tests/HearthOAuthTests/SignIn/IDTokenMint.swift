import Crypto
import CryptoExtras
import FoundationEssentials
import HearthCore

@testable import HearthOAuth

/// Makes ID tokens and key sets as a provider does. It signs without the library that the product checks with.
struct IDTokenMint {
  enum Signer: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)
    case secret(String)
    case nobody
  }

  static let rsa: _RSA.Signing.PrivateKey = {
    guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { preconditionFailure("no RSA key") }
    return key
  }()
  static let otherRSA: _RSA.Signing.PrivateKey = {
    guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { preconditionFailure("no RSA key") }
    return key
  }()
  static let p256 = P256.Signing.PrivateKey()
  static let p384 = P384.Signing.PrivateKey()
  static let p521 = P521.Signing.PrivateKey()
  static let ed25519 = Curve25519.Signing.PrivateKey()

  /// A token with this header and these claims.
  static func token(
    _ claims: [String: JSONValue], header: [String: JSONValue] = ["alg": "RS256", "kid": "1"],
    by signer: Signer = .rsa(rsa)
  ) -> String {
    let input = [header, claims].map { Base64URL.encode(JSONValue.object($0).serialized) }.joined(separator: ".")
    let signature = (try? sign(Array(input.utf8), header["alg"]?.text ?? "", signer)) ?? []
    return input + "." + Base64URL.encode(signature)
  }

  private static func sign(_ input: [UInt8], _ algorithm: String, _ signer: Signer) throws -> [UInt8] {
    switch signer {
    case .rsa(let key):
      let padding: _RSA.Signing.Padding = algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
      return switch algorithm.suffix(3) {
      case "384": Array(try key.signature(for: SHA384.hash(data: input), padding: padding).rawRepresentation)
      case "512": Array(try key.signature(for: SHA512.hash(data: input), padding: padding).rawRepresentation)
      default: Array(try key.signature(for: SHA256.hash(data: input), padding: padding).rawRepresentation)
      }
    case .p256(let key): return Array(try key.signature(for: input).rawRepresentation)
    case .p384(let key): return Array(try key.signature(for: input).rawRepresentation)
    case .p521(let key): return Array(try key.signature(for: input).rawRepresentation)
    case .ed25519(let key): return Array(try key.signature(for: input))
    case .secret(let text):
      return Array(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: Array(text.utf8))))
    case .nobody: return []
    }
  }

  // MARK: - Keys

  static func jwk(_ key: _RSA.Signing.PublicKey, id: String? = "1", _ more: [String: JSONValue] = [:]) -> JSONValue {
    guard let numbers = try? key.getKeyPrimitives() else { preconditionFailure("an RSA key has numbers") }
    var fields: [String: JSONValue] = [
      "kty": "RSA", "n": .string(Base64URL.encode(Array(numbers.modulus))),
      "e": .string(Base64URL.encode(Array(numbers.publicExponent))),
    ]
    if let id { fields["kid"] = .string(id) }
    fields.merge(more) { _, new in new }
    return .object(fields)
  }

  static func jwk(_ curve: String, _ point: Data, id: String) -> JSONValue {
    let half = (point.count - 1) / 2
    let bytes = Array(point.dropFirst())
    return [
      "kty": "EC", "crv": .string(curve), "kid": .string(id), "use": "sig",
      "x": .string(Base64URL.encode(Array(bytes.prefix(half)))),
      "y": .string(Base64URL.encode(Array(bytes.suffix(half)))),
    ]
  }

  static let ed25519JWK: JSONValue = [
    "kty": "OKP", "crv": "Ed25519", "kid": "ed",
    "x": .string(Base64URL.encode(Array(ed25519.publicKey.rawRepresentation))),
  ]

  static func keySet(_ keys: [JSONValue]) -> String {
    String(decoding: JSONValue.object(["keys": .array(keys)]).serialized, as: UTF8.self)
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByArrayLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { first, _ in first })
  }
  init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
