/// Starts requests whose bodies are sent and received in pieces, without following redirects and without retrying.
package protocol APIExchangeEndpoint: Sendable {
  /// Starts a request, and returns before it is connected. Throws if the account's connection settings cannot be
  /// loaded. The caller must call `cancel` at the end.
  func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange
}

/// A request in progress. Reading and writing can happen at the same time.
package protocol APIExchange: Sendable {
  /// The time at which bytes were last sent or received.
  var lastMoved: Timestamp { get }

  /// Sends a piece of the request body. Returns true once the kernel has accepted the whole piece, or false if the API
  /// has already responded and accepts no more of the body. `isLast` marks the last piece.
  func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool

  /// Waits for the response, and returns its status and headers. If the headers do not specify a content type, also
  /// returns the start of the body, which `read` returns again.
  func response() async throws(ExchangeFailure) -> APIResponse

  /// Returns the next bytes of the response body, at most `APIRequest.pieceLimit`, or `nil` at the end. Throws if the
  /// body ends early. Receiving pauses while `APIRequest.pieceLimit` bytes or more are unread.
  func read() async throws(ExchangeFailure) -> [UInt8]?

  /// Cancels the request unless it is complete. Pending calls throw an error whose message ends with `reason`.
  func cancel(_ reason: String)
}
