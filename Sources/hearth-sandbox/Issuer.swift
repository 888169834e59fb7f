import Crypto
import FoundationEssentials

/// Issues ID tokens: JWTs signed with the provider's key and ES256 (OpenID Connect Core, section 2).
struct Issuer: Sendable {
  let url: String
  let key: SigningKey

  /// Issues a token that is valid from `now` to `end`.
  func idToken(
    for family: IdentityProvider.Family, accessToken: String, nonce: String?, mistake: Mistake?, at now: Date,
    until end: Date
  ) -> String {
    let audience = family.clientID ?? "hearth"
    let issuedAt = Int(now.timeIntervalSince1970)
    var claims: [String: Value] = [
      "iss": .text(url), "sub": .text(family.subject), "aud": .text(audience), "iat": .number(issuedAt),
      "exp": .number(Int(end.timeIntervalSince1970.rounded(.up))),
      "at_hash": .text(Self.hash(of: mistake == .wrongAtHash ? "another" : accessToken)),
      // Distinguishes tokens that are issued in the same second.
      "jti": .text(UUID().uuidString),
    ]
    claims["auth_time"] = family.authenticatedAt.map { .number(Int($0.timeIntervalSince1970)) }
    claims["nonce"] = nonce.map { .text($0) }
    switch mistake {
    case .wrongNonce: claims["nonce"] = .text("another")
    case .noNonce: claims["nonce"] = nil
    case .otherAudience: claims["aud"] = .text("another-client")
    case .otherIssuer: claims["iss"] = .text("https://another.example")
    case .otherSubject: claims["sub"] = .text("another-" + family.subject)
    case .expiredIDToken:
      (claims["iat"], claims["exp"]) = (.number(issuedAt - 86_400), .number(issuedAt - 82_800))
    case .otherParty: claims["azp"] = .text("another-client")
    case .numericSubject: claims["sub"] = .number(Int(family.subject) ?? 35)
    case .twoAudiences: claims["aud"] = .list([.text(audience), .text("https://api.example.com")])
    case nil, .algNone, .unknownKey, .wrongSignature, .wrongAtHash, .noIDToken, .wrongState, .noState, .wrongIss,
      .noIss, .noCode, .denied, .replayedCode, .expiredDeviceCode, .slowDown:
      break
    }
    let key = mistake == .unknownKey ? SigningKey() : key
    var header = ["alg": mistake == .algNone ? "none" : "ES256", "typ": "JWT"]
    header["kid"] = mistake == .algNone ? nil : key.publicKey?.kid
    let signed = Self.part(header) + "." + Self.part(claims)
    if mistake == .algNone { return signed + "." }
    return signed + "." + base64URL(key.signature(of: mistake == .wrongSignature ? signed + "?" : signed))
  }

  private static func part(_ value: some Encodable) -> String { base64URL((try? encoded(value)) ?? Data()) }

  /// Returns the hash that ties an access token to its ID token (OpenID Connect Core, section 3.1.3.6).
  private static func hash(of accessToken: String) -> String {
    base64URL(Data(SHA256.hash(data: Data(accessToken.utf8))).prefix(16))
  }
}
