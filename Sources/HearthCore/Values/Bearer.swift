/// A token as a session gives it out, with everything that belongs to it.
package struct Bearer: Hashable, Sendable {
  /// The token of the kind that is configured for the account.
  package let token: Token
  package let type: String
  package let expiresAt: Timestamp?
  package let subject: Subject?
  /// All tokens of its grant, which are redacted from what a server sends back.
  package let secrets: [Secret]

  package init(
    token: Token, type: String = "Bearer", expiresAt: Timestamp? = nil, subject: Subject?, secrets: [Secret]
  ) {
    (self.token, self.type, self.expiresAt) = (token, type, expiresAt)
    (self.subject, self.secrets) = (subject, secrets)
  }

  /// Returns a bearer of the same grant with another of its tokens.
  package func with(_ token: Token, expiresAt: Timestamp?) -> Bearer {
    Bearer(token: token, type: type, expiresAt: expiresAt, subject: subject, secrets: secrets)
  }

  /// `subject` is the session's, for a credential that names none.
  package init(_ credential: Credential, as kind: BearerKind, subject: Subject?) {
    let grant = credential.grant
    self.init(
      token: grant.bearer(kind), type: grant.tokenType, expiresAt: grant.expiresAt,
      subject: credential.subject ?? subject, secrets: grant.tokens.map(\.secret))
  }
}
