package import HearthCore
import Synchronization

/// Sends requests to APIs over kept connections, each account's by its own route.
package final class HTTPAPIEndpoint: APIEndpoint {
  /// What is read of an answer's body, in bytes.
  package static let answerLimit = 8 << 20

  private let sender: HTTPSender
  private let routes = Mutex<[AccountName: HTTPRoute]>([:])

  package init(sender: HTTPSender) {
    self.sender = sender
  }

  /// How the requests of an account travel from now on; nil: as those of an account without settings of its own.
  package func route(_ account: AccountName, over route: HTTPRoute?) {
    routes.withLock { $0[account] = route }
  }

  package func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    let plan = try await plan(for: request.url, of: account)
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
        acceptsCutAnswer: true, plan: plan),
      timeout: timeout)
    return APIResponse(
      status: answer.status, headers: answer.headers, body: answer.body, isTruncated: answer.isTruncated,
      retryAfter: answer.retryAfter, skew: answer.skew)
  }

  private func plan(for url: HTTPURL, of account: AccountName) async throws(ExchangeFailure) -> ConnectionPlan {
    let route = routes.withLock { $0[account] } ?? HTTPRoute()
    do {
      return try await route.plan(for: url)
    } catch {
      switch error {
      case .unreachable(let message), .unanswered(let message), .misconfigured(let message),
        .unavailable(let message, _), .unclear(let message, _), .rejected(_, let message):
        throw .notSent(message: message)
      }
    }
  }
}
