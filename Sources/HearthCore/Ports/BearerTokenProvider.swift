/// The source of the tokens that requests are sent with, which is the sessions.
package protocol BearerTokenProvider: Sendable {
  /// Returns a token that is valid long enough for a request. Waits for a refresh if necessary, up to a deadline.
  func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer

  /// Reports that an API has answered 401, and returns the token to use now. A report about an older token is ignored.
  /// One about the current token forces one shared refresh. One about a token from such a refresh ends the session,
  /// unless the token is accepted elsewhere.
  func tokenRejected(_ rejection: APIRejection, of account: AccountName) async throws(BearerFailure) -> Bearer
}

package enum BearerFailure: Error, Hashable, Sendable {
  /// The session is signed out, ended, locked or not read yet. Sending pauses until that changes.
  case noSession
  /// A refresh is needed, and the provider cannot be asked now.
  case unavailable(message: String, retryAfter: Duration?)
}

/// An API answered 401 to a token (RFC 6750, section 3.1).
package struct APIRejection: Hashable, Sendable {
  package let fingerprint: Fingerprint
  /// The origin of the API, if known.
  package let origin: Origin?
  /// Whether others got 2xx with that same token. Then this rejection alone does not end the session.
  package let isAcceptedElsewhere: Bool
  /// Whether the API wants more than a fresh token (`Challenge`). Then the answer does not concern the session.
  package let isChallenge: Bool

  package init(
    _ fingerprint: Fingerprint, origin: Origin? = nil, isAcceptedElsewhere: Bool = false, isChallenge: Bool = false
  ) {
    (self.fingerprint, self.origin) = (fingerprint, origin)
    (self.isAcceptedElsewhere, self.isChallenge) = (isAcceptedElsewhere, isChallenge)
  }
}
