/// Provides the tokens for requests to APIs.
package protocol BearerTokenProvider: Sendable {
  /// Returns a token that is valid long enough for a request. If necessary, waits for a refresh, up to a time limit.
  ///
  /// Throws `refreshUnavailable` if a refresh is needed but currently impossible. Throws other failures if the session
  /// is signed out, ended, locked or not loaded yet. Sending pauses until that changes.
  func bearer(for account: AccountName) async throws(Failure) -> Bearer

  /// Reports a 401 and returns the token to use next. If that is the rejected token, the 401 concerns only this
  /// request.
  ///
  /// A 401 for an older token has no effect. A 401 for the current token triggers a single refresh, even if many
  /// callers report it, unless it concerns only the request. A 401 for the token from that refresh ends the session,
  /// unless the API has recently accepted tokens of this sign-in.
  func tokenRejected(_ rejection: APIRejection, of account: AccountName) async throws(Failure) -> Bearer

  /// Reports that `url` has accepted the token with a 2xx. Returns without waiting.
  func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL, of account: AccountName)
}

/// A 401 from an API (RFC 6750, section 3.1).
package struct APIRejection: Hashable, Sendable {
  package let fingerprint: Fingerprint
  package let url: HTTPURL?
  /// Whether the API has recently accepted tokens of this sign-in, or another API has accepted this token. If it is
  /// unknown which API sent the 401, any API counts. If true, the 401 does not end the session by itself.
  package internal(set) var isAcceptedElsewhere: Bool
  /// Whether this path rejects every token, although the rest of the API accepts this token. If so, a refresh would not
  /// help.
  package internal(set) var isOfPath = false
  /// Whether the path also rejected an earlier token and has accepted no token since. True if the path is unknown.
  package internal(set) var isRepeated = true
  /// Whether the API requires more than a fresh token (`Challenge`). Such a 401 does not concern the session.
  package let isChallenge: Bool
  /// The API's error code (`error`; RFC 6750, section 3), or `nil` if the response contained no code.
  package let reason: String?

  package var origin: Origin? { url?.origin }

  package init(
    _ fingerprint: Fingerprint, at url: HTTPURL? = nil, isAcceptedElsewhere: Bool = false, isChallenge: Bool = false,
    reason: String? = nil
  ) {
    (self.fingerprint, self.url) = (fingerprint, url)
    (self.isAcceptedElsewhere, self.isChallenge, self.reason) = (isAcceptedElsewhere, isChallenge, reason)
  }
}
