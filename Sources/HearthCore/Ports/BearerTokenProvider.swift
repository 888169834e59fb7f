/// The source of the tokens for requests: the sessions.
package protocol BearerTokenProvider: Sendable {
  /// Returns a token that is valid long enough for a request. Waits for a refresh if necessary, up to a deadline.
  func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer

  /// Reports that an API has answered 401, and returns the token to use now. A report about an older token is ignored.
  /// One about the current token forces one shared refresh. One about a token from such a refresh ends the session,
  /// unless the API has accepted this sign-in's tokens lately. If it returns the same token, the 401 is about only that
  /// request.
  func tokenRejected(_ rejection: APIRejection, of account: AccountName) async throws(BearerFailure) -> Bearer

  /// Reports that this URL was answered 2xx. Does not wait.
  func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL, of account: AccountName)
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
  /// The URL that was requested, if known.
  package let url: HTTPURL?
  /// Whether the API has lately answered 2xx to tokens of this sign-in, or others got 2xx with that same token. Then
  /// this rejection alone does not end the session.
  package internal(set) var isAcceptedElsewhere: Bool
  /// Whether this path refuses every token while the API accepts this one. Then a refresh would not help.
  package internal(set) var isOfPath = false
  /// Whether its path refused another token before, and has accepted none since. It is true if the path is unknown.
  package internal(set) var isRepeated = true
  /// Whether the API wants more than a fresh token (`Challenge`). Then the answer does not concern the session.
  package let isChallenge: Bool
  /// The API's own code for the reason (`error`, RFC 6750, section 3), if it gave one.
  package let reason: String?

  /// The origin of the API, if known.
  package var origin: Origin? { url?.origin }

  package init(
    _ fingerprint: Fingerprint, at url: HTTPURL? = nil, isAcceptedElsewhere: Bool = false, isChallenge: Bool = false,
    reason: String? = nil
  ) {
    (self.fingerprint, self.url) = (fingerprint, url)
    (self.isAcceptedElsewhere, self.isChallenge, self.reason) = (isAcceptedElsewhere, isChallenge, reason)
  }
}
