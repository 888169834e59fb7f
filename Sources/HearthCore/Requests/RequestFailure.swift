/// The reason why a request failed. The numbers below are the JSON-RPC error codes.
package enum RequestFailure: Error, Hashable, Sendable {
  /// -32602. The string names the parameter and says what is wrong with it.
  case invalidRequest(String)
  /// 1005
  case unknownAccount(AccountName)
  /// 1006
  case originNotAllowed(Origin)
  /// 1001, 1002 or 1003, depending on the session's state: the session has no token.
  case noSession
  /// 1002: the API rejected the token of a user who has since signed out. Another user's token must not be used.
  case otherUser
  /// 1004
  case refreshUnavailable(message: String, retryAfter: Duration?)
  /// 1007. The message says whether the API may have processed the request.
  case unanswered(message: String)
  /// 1007: the response is longer than Hearth can return. The API has processed the request.
  case tooLong(limit: Int)
  /// 1008
  case challenge(Challenge)
  /// 1001 or 1003: the user locked the session or signed out while the response was being read.
  case withheld(SessionState)
  /// -32000
  case stopping
  /// -32001: the account already has this many requests in progress.
  case tooMany(Int)
}
