import HearthCore

/// Calls the backend of a `json` account to refresh tokens and sign in. Requests and responses are JSON objects.
struct JSONEndpoint: TokenEndpoint {
  let backend: JSONBackend
  let exchange: TokenExchange

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    try exchange.requireBinding(of: credential, to: backend.refreshURL.origin)
    let token = try exchange.refreshToken(of: credential)
    let field = backend.refreshTokenField.path.reversed().reduce(JSONValue.string(token.reveal())) { value, name in
      .object([name: value])
    }
    return try await exchange.grant(
      by: request(field.object ?? [:], to: backend.refreshURL), in: .json(backend), for: credential)
  }

  /// Returns a request with these fields and the fields from `token_parameters`.
  private func request(_ fields: [String: JSONValue], to url: HTTPURL) -> HTTPSender.Request {
    let further = exchange.parameters.map { ($0, JSONValue.string($1)) }
    return .json(fields.merging(further) { own, _ in own }, to: url)
  }

  /// There is no standard call to revoke a backend's token.
  func revoke(_ credential: Credential) async -> RevocationOutcome {
    .refused(message: "Hearth cannot revoke the tokens of an account of type json.")
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp { try await exchange.time(at: backend.refreshURL) }

  func origin() async -> Origin? { backend.refreshURL.origin }

  /// There is no standard call that returns a backend's user.
  func identify(_ credential: Credential) async -> Subject? { nil }
}

extension JSONEndpoint: SignInWithoutBrowser {
  var takesPassword: Bool { backend.loginURL != nil }

  var otherFlow: String {
    takesPassword
      ? "An account of type json cannot sign in with a browser or a device code. Sign in with a user name and a password."
      : Self.missing
  }

  private static let missing =
    "This account has no \"login_url\", so it can only import a refresh token. To sign in with a user name and a "
    + "password, set the URL with \"hearthctl account set ACCOUNT login_url URL\"."

  /// Sends `username`, `password` and the `token_parameters`. The response has the same form as a refresh response.
  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    guard let url = backend.loginURL else { throw .notSupported(message: Self.missing) }
    let fields: [String: JSONValue] = ["username": .string(username), "password": .string(password.reveal())]
    var granted = try await exchange.signIn(
      by: request(fields, to: url), in: .json(backend), secrets: [password], refreshedAt: backend.refreshURL.origin)
    // If the backend reports no subject, the user name becomes the subject.
    if granted.subject == nil, Subject.isName(username) { granted.subject = exchange.issuer.subject(username) }
    return granted
  }
}
