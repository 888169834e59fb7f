import HearthCore

/// A backend's own refresh call, with a JSON object in the request and in the response.
struct JSONTokenEndpoint: TokenEndpoint {
  let backend: JSONBackend
  let exchange: TokenExchange

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let url = backend.refreshURL
    try exchange.requireBinding(of: credential, to: url.origin)
    let token = try exchange.refreshToken(of: credential)
    let tokenField = backend.refreshTokenField.path.reversed().reduce(JSONValue.string(token.reveal())) { value, name in
      .object([name: value])
    }
    let further = exchange.parameters.map { ($0, JSONValue.string($1)) }
    let fields = JSONValue.object((tokenField.object ?? [:]).merging(further) { token, _ in token })
    let request = HTTPSender.Request(
      method: "POST", url: url,
      headers: [.acceptJSON, APIRequest.Header(name: "Content-Type", value: "application/json")],
      body: fields.serialized ?? [])
    return try await exchange.grant(by: request, in: .json(backend), for: credential)
  }

  /// A backend has no call that revokes a token.
  func revoke(_ credential: Credential) async -> RevocationOutcome {
    .refused(message: "An account of type json has no call that revokes a token.")
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp { try await exchange.time(at: backend.refreshURL) }

  func origin() async -> Origin? { backend.refreshURL.origin }

  /// A backend has no call that names the user.
  func identify(_ credential: Credential) async -> Subject? { nil }
}
