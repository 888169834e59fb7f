/// Begins requests whose bodies are sent and received in pieces. It follows no redirects and does not retry.
package protocol APIExchangeEndpoint: Sendable {
  /// Returns once the account's connection settings are known. The caller must call `cancel` in the end.
  func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange
}

/// A request under way. One caller may write and one may read at the same time.
package protocol APIExchange: Sendable {
  /// When bytes were last sent or received.
  var lastMoved: Timestamp { get }

  /// Sends a piece of the body. Returns true once all of it has been handed to the network, and false if the API takes
  /// no more because it has answered. `isLast` marks the last piece.
  func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool

  /// Returns the head of the response: status and headers and, if they do not name the content type, the beginning of
  /// the body. `read` returns that part of the body again.
  func response() async throws(ExchangeFailure) -> APIResponse

  /// Returns the next bytes of the response's body, at most `APIRequest.pieceLimit`, or `nil` at its end. No more than
  /// that is received before it is read. Throws if the body breaks off.
  func read() async throws(ExchangeFailure) -> [UInt8]?

  /// Ends the request unless it is complete. Waiting callers get the reason, which is the rest of a sentence.
  func cancel(_ reason: String)
}

extension APIRequest {
  /// The maximum size of one piece of a body, in bytes.
  package static let pieceLimit = 256 << 10
}
