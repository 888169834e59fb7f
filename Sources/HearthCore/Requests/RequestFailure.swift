/// The reason why a request failed. Each case states its JSON-RPC error code.
package enum RequestFailure: Error, Hashable, Sendable {
  /// A parameter is invalid (-32602). The string names the parameter and says what is wrong with it.
  case invalidRequest(String)
  /// The account is not configured (1005).
  case unknownAccount(AccountName)
  /// The account's `api_origins` do not contain the request's origin (1006).
  case originNotAllowed(Origin)
  /// The session has no token (1001, 1002 or 1003, depending on its state).
  case noSession
  /// The API rejected the token of a user who has since signed out, and another user's token must not be used (1002).
  case otherUser
  /// No token is available, because the provider is unavailable (1004).
  case refreshUnavailable(message: String, retryAfter: Duration?)
  /// The API could not be reached or did not respond (1007). The message says whether it may have processed the
  /// request.
  case unanswered(message: String)
  /// The API has processed the request, but the response is longer than Hearth can return (1007).
  case tooLong(limit: Int)
  /// The API requires more than a fresh token (1008).
  case challenge(Challenge)
  /// The user locked the session or signed out while the response was being read (1001 or 1003).
  case withheld(SessionState)
  /// The daemon is stopping (-32000).
  case stopping
  /// The account already has this many requests in progress (-32001).
  case tooMany(Int)
}
