import Crypto
import HearthCore

/// Checks the claims of an ID token (OpenID Connect Core, section 3.1.3.7, rules 2 to 5 and 9 to 11; RFC 7519, section
/// 4.1.5).
struct IDTokenClaims {
  /// How far two clocks may be apart, in seconds.
  static let leeway = 60.0

  /// The issuer's name, if it is known.
  let issuer: IssuerName?
  let client: String
  /// The nonce of the request, if one was sent.
  let nonce: Secret?
  /// An OpenID Connect provider repeats the nonce. A provider with configured endpoints may not be one, and LinkedIn's
  /// ID tokens have no nonce.
  let isNonceRequired: Bool
  let accessToken: Secret
  /// How long ago the person may have authenticated, in seconds, if the request set a limit (`max_age`).
  var maximumAge: Double?
  /// The time by the provider's clock, or by this machine's if the provider sent none.
  let now: Timestamp
  var clock = IDTokenFault.Clock.provider
  /// The audiences that the account asks for, in addition to the client itself.
  var audiences: Set<String> = []

  func check(_ token: IDToken) throws(IDTokenFault) {
    let claims = token.claims
    if let issuer {
      guard let named = claims["iss"]?.text, issuer.covers(named) else { throw .foreignIssuer }
    }
    guard let subject = claims["sub"]?.name else { throw .noSubject }
    guard Subject.isName(subject) else { throw .longSubject }
    try checkAudience(of: claims)
    try checkTimes(of: claims)
    if let nonce {
      let named = claims["nonce"]
      let isMissing = named == nil || named == .string("")
      guard named == .string(nonce.reveal()) || isMissing && !isNonceRequired else { throw .otherNonce }
    }
    if let hash = claims["at_hash"] {
      guard hash.text == Self.hash(of: accessToken, by: token.algorithm) else { throw .otherAccessToken }
    }
  }

  /// Checks that the token is for the client, or was issued to it for an audience that the account asks for. Other
  /// audiences must be known, or the token must name the client as the party that it was issued to (rules 3 to 5). The
  /// issuer counts as known: it is also an audience of Oracle's ID tokens ("Identity Token" of Oracle Identity Cloud
  /// Service).
  private func checkAudience(of claims: JSONValue) throws(IDTokenFault) {
    let named = if case .array(let names)? = claims["aud"] { names.map(\.name) } else { [claims["aud"]?.name] }
    let (party, isOurs) = (claims["azp"], claims["azp"]?.name == client)
    let isForAsked = named.contains { $0.map(audiences.contains) == true }
    guard named.contains(client) || isOurs && isForAsked else { throw .otherAudience }
    let known = audiences.union([client, claims["iss"]?.text].compactMap(\.self))
    let isForKnown = named.allSatisfy { $0.map(known.contains) == true }
    guard isOurs || party == nil && isForKnown else { throw .otherParty }
  }

  private func checkTimes(of claims: JSONValue) throws(IDTokenFault) {
    guard let expiresAt = claims["exp"]?.asNumber, let issuedAt = claims["iat"]?.asNumber else { throw .undated }
    let now = Double(now.milliseconds) / 1000
    guard expiresAt + Self.leeway > now else { throw .expired(by: clock) }
    guard issuedAt - Self.leeway < now else { throw .fromFuture(by: clock) }
    if let notBefore = claims["nbf"] {
      guard let validFrom = notBefore.asNumber, validFrom - Self.leeway <= now else { throw .notYetValid(by: clock) }
    }
    if let maximumAge {
      guard let authenticatedAt = claims["auth_time"]?.asNumber else { throw .noAuthenticationTime }
      guard now - authenticatedAt <= maximumAge + Self.leeway else { throw .authenticatedTooLongAgo }
    }
  }

  /// The left half of the access token's hash, with the hash function of the signature (OpenID Connect Core, section
  /// 3.1.3.6). Ed25519 uses SHA-512 (RFC 8032, section 5.1).
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
