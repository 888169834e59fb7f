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

  /// Throws why Hearth rejects the token, as the end of a sentence that starts with "The ID token from …".
  init(_ token: Secret) throws {
    let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
    // Encrypted tokens have five parts (RFC 7516, section 7.1).
    guard parts.count != 5 else { throw Reason("is encrypted, which Hearth cannot read") }
    guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ JSONValue(parsing: $0) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ JSONValue(parsing: $0) }), claims.object != nil,
      let signature = Base64URL.decode(parts[2]), let algorithm = header["alg"]?.text
    else { throw Reason("cannot be read") }
    // Hearth does not support any critical headers (RFC 7515, section 4.1.11).
    guard header["crit"] == nil else { throw Reason("has a header that Hearth does not understand (crit)") }
    (self.algorithm, keyID, self.signature) = (algorithm, header["kid"]?.text, signature)
    self.claims = claims.withoutNulls
    signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
  }
}
