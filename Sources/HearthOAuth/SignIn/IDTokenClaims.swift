import Crypto
import HearthCore

/// Checks the claims of an ID token (OpenID Connect Core, section 3.1.3.7, rules 2 to 5, 9 to 11 and 13, and section
/// 3.1.3.8; RFC 7519, section 4.1.5).
struct IDTokenClaims {
  /// The clock difference to tolerate, in seconds.
  static let leeway = 60.0

  let issuer: IssuerName?
  let client: String
  /// The nonce that the request contained, if any.
  let nonce: Secret?
  /// Whether the token must contain the nonce, as OpenID Connect requires. A provider whose endpoints are configured
  /// may deviate from this rule. For example, LinkedIn's ID tokens do not contain a nonce.
  let isNonceRequired: Bool
  let accessToken: Secret
  /// The maximum time since the user authenticated, in seconds, if the request set one (`max_age`).
  var maximumAge: Double?
  /// The time on the provider's clock, or on this machine's if the provider sent no time.
  let now: Timestamp
  var isNowProviders = true
  /// The audiences that the account requests, in addition to the client.
  var audiences: Set<String> = []

  func check(_ token: IDToken) throws {
    let claims = token.claims
    if let issuer {
      guard let named = claims["iss"]?.text, issuer.covers(named) else {
        throw Reason("is not from the configured issuer (iss)")
      }
    }
    guard let subject = claims["sub"]?.name else { throw Reason("does not name a user (sub)") }
    guard Subject.isName(subject) else {
      throw Reason("names a user with an ID of more than \(Subject.maximumLength) bytes (sub)")
    }
    try checkAudience(of: claims)
    try checkTimes(of: claims)
    if let nonce {
      let named = claims["nonce"]
      let isMissing = named == nil || named == .string("")
      guard named == .string(nonce.reveal()) || isMissing && !isNonceRequired else {
        throw Reason("is not from this sign-in (nonce)")
      }
    }
    if let hash = claims["at_hash"] {
      guard hash.text == Self.hash(of: accessToken, by: token.algorithm) else {
        throw Reason("belongs to another access token (at_hash)")
      }
    }
  }

  /// Checks that the token is for the client, or was issued to the client for an audience that the account requests
  /// (rules 3 to 5). If `azp` exists, it must be the client. Otherwise, the token may list only the client, the
  /// audiences that the account requests, and the issuer, which Oracle's ID tokens list ("Identity Token" in the
  /// documentation of Oracle Identity Cloud Service).
  private func checkAudience(of claims: JSONValue) throws {
    let named = if case .array(let names)? = claims["aud"] { names.map(\.name) } else { [claims["aud"]?.name] }
    let (party, isOurs) = (claims["azp"], claims["azp"]?.name == client)
    let isForAsked = named.contains { $0.map(audiences.contains) == true }
    guard named.contains(client) || isOurs && isForAsked else { throw Reason("is for another client (aud)") }
    let known = audiences.union([client, claims["iss"]?.text].compactMap(\.self))
    let isForKnown = named.allSatisfy { $0.map(known.contains) == true }
    guard isOurs || party == nil && isForKnown else { throw Reason("was issued to another client (azp)") }
  }

  private func checkTimes(of claims: JSONValue) throws {
    guard let expiresAt = claims["exp"]?.asNumber, let issuedAt = claims["iat"]?.asNumber else {
      throw Reason("does not say when it was issued or when it expires (iat, exp)")
    }
    let clock =
      isNowProviders
      ? ", according to the provider's own clock" : ", according to this machine's clock, which may be wrong"
    let now = Double(now.milliseconds) / 1000
    guard expiresAt + Self.leeway > now else { throw Reason("has expired\(clock) (exp)") }
    guard issuedAt - Self.leeway < now else { throw Reason("was issued in the future\(clock) (iat)") }
    if let notBefore = claims["nbf"] {
      guard let validFrom = notBefore.asNumber, validFrom - Self.leeway <= now else {
        throw Reason("is not valid yet\(clock) (nbf)")
      }
    }
    if let maximumAge {
      guard let authenticatedAt = claims["auth_time"]?.asNumber else {
        throw Reason("does not say when you signed in, though max_age is set (auth_time)")
      }
      guard now - authenticatedAt <= maximumAge + Self.leeway else {
        throw Reason("says that you signed in longer ago than max_age allows (auth_time)")
      }
    }
  }

  /// Returns the left half of the access token's hash, computed with the signature's hash function (OpenID Connect
  /// Core, section 3.1.3.6). Ed25519 uses SHA-512 (RFC 8032, section 5.1).
  static func hash(of accessToken: Secret, by algorithm: String) -> String {
    let bytes = Array(accessToken.reveal().utf8)
    let hash: [UInt8] =
      switch algorithm.suffix(3) {
      case "256": Array(SHA256.hash(data: bytes))
      case "384": Array(SHA384.hash(data: bytes))
      default: Array(SHA512.hash(data: bytes))
      }
    return Base64URL.encode(Array(hash.prefix(hash.count / 2)))
  }
}
