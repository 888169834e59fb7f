/// Why a request has no answer that can be returned.
package enum RequestFailure: Error, Hashable, Sendable {
  /// -32602. The text names the parameter and says what is wrong with it.
  case invalidRequest(String)
  /// 1005
  case unknownAccount(AccountName)
  /// 1006
  case originNotAllowed(Origin)
  /// 1001, 1002 or 1003: the session has no token to give. Its state says why.
  case noSession
  /// 1002: the API rejected the token of a user, and another user, whose token is not used for this, is signed in now.
  case otherUser
  /// 1004
  case refreshUnavailable(message: String, retryAfter: Duration?)
  /// 1007. The sentence says what is known about the request.
  case unanswered(message: String)
  /// 1007: the answer is longer than can be returned. The API has carried the request out.
  case tooLong(limit: Int)
  /// 1008
  case challenge(Challenge)
  /// 1001 or 1003: the user locked the session or signed out while the answer was read in pieces.
  case withheld(SessionState)
  /// -32000
  case stopping
  /// -32001: this many requests are already under way.
  case tooMany(Int)
}
