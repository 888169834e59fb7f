/// A token of an account for use in requests, with its metadata.
package struct Bearer: Hashable, Sendable {
  package let account: AccountName
  /// The token to send. Its kind depends on the account's configuration.
  package let token: Token
  package let type: String
  package let expiresAt: Timestamp?
  package let subject: Subject?
  /// The user's issuer or, if the user is unknown, the configured one.
  package let issuer: String?
  /// All tokens of the grant. They must be redacted in responses.
  package let secrets: [Secret]
  /// The user's email addresses and names from the grant's tokens, or `nil` if nobody has asked for them.
  package var names: [String]?

  package init(
    of account: AccountName, token: Token, type: String = "Bearer", expiresAt: Timestamp? = nil, subject: Subject?,
    issuer: String? = nil, secrets: [Secret]
  ) {
    (self.account, self.token, self.type, self.expiresAt) = (account, token, type, expiresAt)
    (self.subject, self.issuer, self.secrets) = (subject, subject?.issuer ?? issuer, secrets)
  }

  /// Returns a bearer with another token of the same grant.
  package func with(_ token: Token, expiresAt: Timestamp?) -> Bearer {
    Bearer(
      of: account, token: token, type: type, expiresAt: expiresAt, subject: subject, issuer: issuer, secrets: secrets)
  }

  /// Creates a bearer from a credential. `subject` is the fallback for a credential without a subject.
  package init(
    _ credential: Credential, of account: AccountName, as kind: BearerKind, subject: Subject?, issuer: String? = nil
  ) {
    let grant = credential.grant
    self.init(
      of: account, token: grant.bearer(kind), type: grant.tokenType, expiresAt: grant.expiresAt,
      subject: credential.subject ?? subject, issuer: issuer, secrets: grant.tokens.map(\.secret))
  }
}
