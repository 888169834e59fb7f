/// A token for use in requests, with its metadata.
package struct Bearer: Hashable, Sendable {
  /// The token to send. Its kind depends on the account's configuration.
  package let token: Token
  package let type: String
  package let expiresAt: Timestamp?
  package let subject: Subject?
  /// The configured issuer, which is used if the user is unknown.
  package let issuer: String?
  /// All tokens of the grant. They must be redacted in responses.
  package let secrets: [Secret]

  package init(
    token: Token, type: String = "Bearer", expiresAt: Timestamp? = nil, subject: Subject?, issuer: String? = nil,
    secrets: [Secret]
  ) {
    (self.token, self.type, self.expiresAt) = (token, type, expiresAt)
    (self.subject, self.issuer, self.secrets) = (subject, issuer, secrets)
  }

  /// Returns a bearer with another token of the same grant.
  package func with(_ token: Token, expiresAt: Timestamp?) -> Bearer {
    Bearer(token: token, type: type, expiresAt: expiresAt, subject: subject, issuer: issuer, secrets: secrets)
  }

  /// Creates a bearer from a credential. `subject` is the fallback for a credential without a subject.
  package init(_ credential: Credential, as kind: BearerKind, subject: Subject?, issuer: String? = nil) {
    let grant = credential.grant
    self.init(
      token: grant.bearer(kind), type: grant.tokenType, expiresAt: grant.expiresAt,
      subject: credential.subject ?? subject, issuer: issuer, secrets: grant.tokens.map(\.secret))
  }
}
