package import HearthCore
import Synchronization

/// Sends requests to APIs over pooled connections. Each account has its own route.
package final class HTTPAPIEndpoint: APIEndpoint, APIExchangeEndpoint {
  private let sender: HTTPSender
  private let routes = Mutex<[AccountName: (route: HTTPRoute, files: any FileSystem)]>([:])

  package init(sender: HTTPSender) {
    self.sender = sender
  }

  /// Sets the account's route for later requests. `files` provides the route's certificates and keys.
  package func route(_ account: AccountName, over route: HTTPRoute, files: any FileSystem) {
    routes.withLock { $0[account] = (route, files) }
  }

  package func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    var message = try await message(request, of: account, bearer: bearer)
    message.reading = request.responseLimit.map { .whole(limit: $0) } ?? .statusSaysEnough
    return APIResponse(try await sender.send(message, timeout: timeout))
  }

  package func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange {
    var message = try await message(request, of: account, bearer: bearer)
    message.reading = .pieces
    return sender.begin(message, upload: request.upload)
  }

  private func message(
    _ request: APIRequest, of account: AccountName, bearer: Token?
  ) async throws(ExchangeFailure) -> HTTPSender.Request {
    var headers = request.headers.filter { !$0.isOwn }
    if let bearer { headers.append(.bearer(bearer)) }
    if let key = request.idempotencyKey {
      headers.append(APIRequest.Header(name: "Idempotency-Key", value: key))
    }
    return HTTPSender.Request(
      method: request.method, url: request.url, headers: headers, body: request.body,
      plan: try await plan(for: request.url, of: account))
  }

  private func plan(for url: HTTPURL, of account: AccountName) async throws(ExchangeFailure) -> ConnectionPlan? {
    guard let (route, files) = routes.withLock({ $0[account] }) else { return nil }
    do {
      return try await route.plan(for: url, files: files)
    } catch {
      throw .notSent(message: error.message)
    }
  }
}

extension HTTPExchange.Reading {
  /// Limits for reading a body when only the status matters.
  static let statusSaysEnough = Self.beginning(limit: 64 << 10, time: .seconds(1))
}
