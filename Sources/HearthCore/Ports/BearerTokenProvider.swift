/// The source of the tokens that requests are sent with: the sessions, as a sender sees them.
package protocol BearerTokenProvider: Sendable {
  /// The current token, valid long enough for a request that is sent at once. Where a refresh is needed it is awaited, up
  /// to a deadline.
  func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer

  /// An API has answered 401. For an older token that is ignored; for the current token one shared refresh is forced; for
  /// the token from such a refresh the session ends, unless the token is accepted elsewhere. Returns the token to use
  /// now.
  func tokenRejected(_ rejection: APIRejection, of account: AccountName) async throws(BearerFailure) -> Bearer
}

package enum BearerFailure: Error, Hashable, Sendable {
  /// The session is signed out, ended, locked or not read yet: sending pauses until that changes.
  case noSession
  /// A refresh is needed, and the provider cannot be asked now.
  case unavailable(message: String, retryAfter: Duration?)
}
