import Crypto
import FoundationEssentials

/// Issues ID tokens: JWTs signed with the provider's key and ES256 (OpenID Connect Core, section 2).
struct Issuer: Sendable {
  let url: String
  let key: SigningKey

  struct Claims: Encodable {
    var iss = ""
    var sub, aud: Claim
    var azp: String?
    var iat, exp: Int
    /// The time at which the user logged in, or `nil` if the token was issued without a login.
    var authTime: Int?
    var nonce: String?
    var atHash: String?
    /// Distinguishes tokens that are issued in the same second.
    let jti = UUID().uuidString
  }

  enum Claim: Encodable {
    case text(String), number(Int), list([String])

    var text: String { if case .text(let text) = self { text } else { "" } }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      case .list(let texts): try container.encode(texts)
      }
    }
  }

  private struct Header: Encodable {
    let alg: String
    let kid: String?
    let typ = "JWT"
  }

  func idToken(_ claims: Claims, accessToken: String, mistake: Mistake? = nil) -> String {
    var claims = claims
    claims.iss = url
    claims.atHash = Self.hash(of: mistake == .wrongAtHash ? "another" : accessToken)
    switch mistake {
    case .wrongNonce: claims.nonce = "another"
    case .noNonce: claims.nonce = nil
    case .otherAudience: claims.aud = .text("another-client")
    case .otherIssuer: claims.iss = "https://another.example"
    case .otherSubject: claims.sub = .text("another-" + claims.sub.text)
    case .expiredIDToken: (claims.iat, claims.exp) = (claims.iat - 86_400, claims.iat - 82_800)
    case .otherParty: claims.azp = "another-client"
    case .numericSubject: claims.sub = .number(Int(claims.sub.text) ?? 35)
    case .twoAudiences: claims.aud = .list([claims.aud.text, "https://api.example.com"])
    case nil, .algNone, .unknownKey, .wrongSignature, .wrongAtHash, .noIDToken, .wrongState, .noState, .wrongIss,
      .noIss, .noCode, .denied, .replayedCode, .expiredDeviceCode, .slowDown:
      break
    }
    let key = mistake == .unknownKey ? SigningKey() : key
    let header = mistake == .algNone ? Header(alg: "none", kid: nil) : Header(alg: "ES256", kid: key.publicKey?.kid)
    let signed = Self.part(header) + "." + Self.part(claims)
    if mistake == .algNone { return signed + "." }
    return signed + "." + base64URL(key.signature(of: mistake == .wrongSignature ? signed + "?" : signed))
  }

  private static func part(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return base64URL((try? encoder.encode(value)) ?? Data())
  }

  /// Returns the hash that ties an access token to its ID token (OpenID Connect Core, section 3.1.3.6).
  private static func hash(of accessToken: String) -> String {
    base64URL(Data(SHA256.hash(data: Data(accessToken.utf8))).prefix(16))
  }
}
