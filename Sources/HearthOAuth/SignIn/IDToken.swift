import HearthCore

/// A parsed but unverified ID token (OpenID Connect Core, section 2; RFC 7515, section 7.1).
struct IDToken {
  /// The `alg` header (RFC 7515, section 4.1.1).
  let algorithm: String
  /// The `kid` header (RFC 7515, section 4.1.4).
  let keyID: String?
  let claims: JSONValue
  /// The encoded header and claims, which the signature covers.
  let signedBytes: [UInt8]
  let signature: [UInt8]

  init(_ token: Secret) throws(IDTokenFault) {
    let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
    // Encrypted tokens have five parts (RFC 7516, section 7.1).
    guard parts.count != 5 else { throw .encrypted }
    guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ JSONValue(parsing: $0) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ JSONValue(parsing: $0) }), claims.object != nil,
      let signature = Base64URL.decode(parts[2]), let algorithm = header["alg"]?.text
    else { throw .unreadable }
    // Hearth does not support any critical headers (RFC 7515, section 4.1.11).
    guard header["crit"] == nil else { throw .critical }
    (self.algorithm, keyID, self.signature) = (algorithm, header["kid"]?.text, signature)
    self.claims = claims.withoutNulls
    signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
  }
}

/// Why Hearth rejects an ID token, as the end of a sentence that starts with "The ID token from …".
struct IDTokenFault: Error, Hashable {
  let text: String

  private init(_ text: String) { self.text = text }

  static let absent = Self("is missing, although it was requested (scope openid)")
  static let unreadable = Self("cannot be read")
  static let encrypted = Self("is encrypted, which Hearth cannot read")
  static let critical = Self("has a header that Hearth does not understand (crit)")
  static let unsigned = Self("is not signed (alg none)")
  static let noSharedSecret = Self("is signed with a secret (HS256) that this client does not have")
  static let unknownKey = Self("is signed with a key that the provider does not publish")
  static let forged = Self("has an invalid signature")
  static let foreignIssuer = Self("is not from the configured issuer (iss)")
  static let noSubject = Self("does not name a user (sub)")
  static let longSubject = Self("names a user with an ID of more than \(Subject.maximumLength) bytes (sub)")
  static let otherAudience = Self("is for another client (aud)")
  static let otherParty = Self("was issued to another client (azp)")
  static let undated = Self("does not say when it was issued or when it expires (iat, exp)")
  static let otherNonce = Self("is not from this sign-in (nonce)")
  static let noAuthenticationTime =
    Self("does not say when you signed in, though max_age is set (auth_time)")
  static let authenticatedTooLongAgo = Self("says that you signed in longer ago than max_age allows (auth_time)")
  static let otherAccessToken = Self("belongs to another access token (at_hash)")

  static func expired(by clock: Clock) -> Self { Self("has expired\(clock.rawValue) (exp)") }
  static func fromFuture(by clock: Clock) -> Self { Self("was issued in the future\(clock.rawValue) (iat)") }
  static func notYetValid(by clock: Clock) -> Self { Self("is not valid yet\(clock.rawValue) (nbf)") }

  enum Clock: String {
    /// The provider's clock, if the response that contained the token also contained the time.
    case provider = ", according to the provider's own clock"
    case machine = ", according to this machine's clock, which may be wrong"
  }

  /// Quotes the name only if it looks like an algorithm's name.
  static func algorithm(_ name: String) -> Self {
    let isName = name.utf8.count <= 8 && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
    return Self("is signed with an algorithm that Hearth does not accept (alg\(isName ? " " + name : ""))")
  }

  /// The keys or the client secret could not be loaded. `reason` is a sentence.
  static func keys(_ reason: String) -> Self { Self("cannot be checked (\(reason.withoutStop))") }
}
