/// Begins requests whose bodies go in pieces, both ways, so that no body has to fit into memory. It follows no redirect and
/// repeats no request.
package protocol APIExchangeEndpoint: Sendable {
  /// Returns at once, or as soon as it is known how the account's connections are made. `cancel` must be called in the
  /// end.
  func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange
}

/// One request that is under way. One caller may write, and one read, at the same time.
package protocol APIExchange: Sendable {
  /// When the network last took or brought anything.
  var lastMoved: Timestamp { get }

  /// Sends a piece of the body. Returns true once the network has taken all of it, and false where the API takes no more:
  /// it has answered. `isLast`: nothing follows.
  func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool

  /// The beginning of the response: its status and headers, and, where they do not tell of what type it is, how its body
  /// begins. What it returns of the body is read again by `read`.
  func response() async throws(ExchangeFailure) -> APIResponse

  /// What has come of the response's body: at most `APIRequest.pieceLimit` bytes, and nil at its end. The network brings
  /// no more than that before it is read. Throws where the body breaks off.
  func read() async throws(ExchangeFailure) -> [UInt8]?

  /// Ends it, unless it is complete: whoever waits is told the reason, which is the rest of a sentence.
  func cancel(_ reason: String)
}

extension APIRequest {
  /// How much of a body goes at once, in bytes.
  package static let pieceLimit = 256 << 10
}
