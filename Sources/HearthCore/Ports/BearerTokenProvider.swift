/// Where the delivery of requests gets its tokens from: the sessions, seen by one who sends.
package protocol BearerTokenProvider: Sendable {
  /// The current token, valid for a minute or as long as the provider makes them; awaits a refresh where one is
  /// needed, with a deadline.
  func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer

  /// An API answered 401. An older token's is ignored; the current one's forces one shared refresh; again on the token
  /// that brought, the session ends, unless others are let in with it. Returns the token to use now.
  func refused(_ refusal: APIRejection, of account: AccountName) async throws(BearerFailure) -> Bearer
}

package struct Bearer: Hashable, Sendable {
  package let token: Token
  package let subject: Subject?
  /// All that a server may repeat and nobody may read: this token, and those it came with.
  package let secrets: [Secret]

  package init(token: Token, subject: Subject?, secrets: [Secret]) {
    self.token = token
    self.subject = subject
    self.secrets = secrets
  }
}

package enum BearerFailure: Error, Hashable, Sendable {
  /// Signed out, ended, locked or not read yet: sending pauses until the session says otherwise.
  case noSession
  /// A refresh is needed and cannot be had now.
  case unavailable(message: String, retryAfter: Duration?)
}
