import Crypto
import FoundationEssentials

@testable import hearth_sandbox

/// A JWT, taken apart without being believed.
struct SignedToken {
  struct Header: Decodable, Equatable {
    let alg: String
    let kid: String?
  }

  struct Claims: Decodable {
    let iss, sub, aud: String
    let iat, exp: Int
    let nonce: String?
    let authTime: Int?
    let atHash: String?

    enum CodingKeys: String, CodingKey {
      case iss, sub, aud, iat, exp, nonce, authTime = "auth_time", atHash = "at_hash"
    }
  }

  struct NoToken: Error {}

  let header: Header
  let payload: Data
  private let signed: String
  private let signature: Data

  init(_ text: String?) throws {
    let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw NoToken() }
    header = try JSONDecoder().decode(Header.self, from: try Self.bytes(parts[0]))
    payload = try Self.bytes(parts[1])
    signed = parts[0] + "." + parts[1]
    signature = try Self.bytes(parts[2])
  }

  var claims: Claims { get throws { try JSONDecoder().decode(Claims.self, from: payload) } }

  /// Whether one of the keys has signed it with ES256, under the name that the header says.
  func isSigned(by keys: [SigningKey.PublicKey]) throws -> Bool {
    guard header.alg == "ES256", let key = keys.first(where: { $0.kid == header.kid }) else { return false }
    let point = try Self.bytes(key.x) + Self.bytes(key.y)
    return try P256.Signing.PublicKey(rawRepresentation: point).isValidSignature(
      P256.Signing.ECDSASignature(rawRepresentation: signature), for: Data(signed.utf8))
  }

  static func bytes(_ text: String) throws -> Data {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
    guard let data = Data(base64Encoded: base64 + padding) else { throw NoToken() }
    return data
  }
}
