/// Why a request has no answer that can be given.
package enum RequestFailure: Error, Hashable, Sendable {
  /// -32602: the text names the parameter and says what is wrong with it.
  case invalidRequest(String)
  /// 1005
  case unknownAccount(AccountName)
  /// 1006
  case originNotAllowed(Origin)
  /// 1001, 1002 or 1003: the session has no token to give; its state says why.
  case noSession
  /// 1002: the API rejected the token of a user whose place another has taken; it is asked nothing under the other's token.
  case otherUser
  /// 1004
  case refreshUnavailable(message: String, retryAfter: Duration?)
  /// 1007. The sentence says what is known of the request.
  case unanswered(message: String)
  /// 1007: the answer has more bytes than can be given. What the request did is done.
  case tooLong(limit: Int)
  /// 1008
  case challenge(Challenge)
  /// 1001 or 1003: the user has locked the session, or signed out, while the answer was given in pieces.
  case withheld(SessionState)
  /// -32000
  case stopping
  /// -32001: so many requests are under way.
  case tooMany(Int)
}
