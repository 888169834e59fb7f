package import HearthCore

/// Sends requests to APIs over kept connections.
package struct HTTPAPIEndpoint: APIEndpoint {
  /// What is read of an answer's body, in bytes.
  package static let answerLimit = 8 << 20

  private let sender: HTTPSender

  package init(sender: HTTPSender) {
    self.sender = sender
  }

  package func exchange(
    _ request: APIRequest, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIAnswer {
    var headers = request.headers.filter { !$0.isOwn }
    if let bearer {
      headers.append(APIRequest.Header(name: "Authorization", value: "Bearer " + bearer.secret.reveal()))
    }
    if let key = request.idempotencyKey {
      headers.append(APIRequest.Header(name: "Idempotency-Key", value: key))
    }
    let answer = try await sender.send(
      HTTPSender.Request(
        method: request.method, url: request.url, headers: headers, body: request.body, answerLimit: Self.answerLimit,
        acceptsCutAnswer: true),
      timeout: timeout)
    return APIAnswer(
      status: answer.status, headers: answer.headers, body: answer.body, isTruncated: answer.isTruncated,
      retryAfter: answer.retryAfter, skew: answer.skew)
  }
}
