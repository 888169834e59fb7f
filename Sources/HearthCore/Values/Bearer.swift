/// A token as a session gives it out, with all that belongs to it at that time.
package struct Bearer: Hashable, Sendable {
  /// The token of the kind that the account is configured to.
  package let token: Token
  package let type: String
  package let expiresAt: Timestamp?
  package let subject: Subject?
  /// All tokens of its grant, which are removed from what a server sends back.
  package let secrets: [Secret]

  package init(
    token: Token, type: String = "Bearer", expiresAt: Timestamp? = nil, subject: Subject?, secrets: [Secret]
  ) {
    self.token = token
    self.type = type
    self.expiresAt = expiresAt
    self.subject = subject
    self.secrets = secrets
  }

  /// `subject`: of the session, where the credential does not name one.
  package init(_ credential: Credential, as kind: BearerKind, subject: Subject?) {
    let grant = credential.grant
    self.init(
      token: grant.bearer(kind), type: grant.tokenType, expiresAt: grant.expiresAt,
      subject: credential.subject ?? subject, secrets: grant.tokens.map(\.secret))
  }
}
