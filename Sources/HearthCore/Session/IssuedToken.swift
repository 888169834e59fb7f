/// A token as a session gives it to a caller, with all that belongs to it at that time.
package struct IssuedToken: Hashable, Sendable {
  /// The one that APIs are shown: of the kind that the account is configured to.
  package let bearer: Token
  package let type: String
  package let expiresAt: Timestamp?
  package let subject: Subject?
  /// All tokens of its grant: what a server may repeat and nobody may read.
  package let secrets: [Secret]

  /// `subject`: of the session, where the credential does not name one.
  package init(_ credential: Credential, as kind: BearerKind, subject: Subject?) {
    bearer = credential.grant.bearer(kind)
    type = credential.grant.tokenType
    expiresAt = credential.grant.expiresAt
    self.subject = credential.subject ?? subject
    secrets = credential.grant.tokens.map(\.secret)
  }
}
