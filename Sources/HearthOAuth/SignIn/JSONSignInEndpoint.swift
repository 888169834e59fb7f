import HearthCore

/// A backend's own call for signing in, with a JSON object in the request and in the response.
struct JSONSignInEndpoint: SignInWithoutBrowser {
  let backend: JSONBackend
  let exchange: TokenExchange

  var takesPassword: Bool { backend.loginURL != nil }

  var otherFlow: String {
    takesPassword
      ? "An account of type json signs in with user name and password, at its \"login_url\"."
      : missing
  }

  private var missing: String {
    "The account names no \"login_url\", which signing in with user name and password needs: configure it, or import a "
      + "refresh token."
  }

  /// `POST` with the fields `username` and `password`, and those of `token_parameters`. The response is one as to a
  /// refresh.
  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    guard let url = backend.loginURL else { throw .notSupported(message: missing) }
    let further = exchange.parameters.map { ($0, JSONValue.string($1)) }
    let fields: [String: JSONValue] = ["username": .string(username), "password": .string(password.reveal())]
    let request = HTTPSender.Request.json(fields.merging(further) { own, _ in own }, to: url)
    var granted = try await exchange.signIn(
      by: request, in: .json(backend), secrets: [password], refreshedAt: backend.refreshURL.origin)
    // Where the backend tells no subject, the name that it knows the user by is one.
    if granted.subject == nil, Subject.isName(username) { granted.subject = exchange.issuer.subject(username) }
    return granted
  }
}

extension HTTPSender.Request {
  static func json(_ fields: [String: JSONValue], to url: HTTPURL) -> Self {
    Self(
      method: "POST", url: url,
      headers: [.acceptJSON, APIRequest.Header(name: "Content-Type", value: "application/json")],
      body: JSONValue.object(fields).serialized ?? [])
  }
}

extension TokenExchange {
  /// Asks for the grant of a person who has given a password. `origin`: where it is going to be refreshed, to which it is
  /// bound.
  func signIn(
    by request: HTTPSender.Request, in dialect: TokenResponseReader.Dialect, secrets: [Secret],
    refreshedAt origin: Origin
  ) async throws(SignInFailure) -> TokenResponse {
    let response: HTTPResponse
    do {
      response = try await send(request)
    } catch {
      throw SignInFailure(error)
    }
    let reader = reader(dialect, origin: request.url.origin, for: nil, secrets: secrets)
    var granted = try await reader.grant(in: response) { $0.signInFailure(of: request.url.origin, at: .password) }
    if let error = granted.error { throw .failed(message: error.message) }
    granted.origin = origin
    return granted
  }
}
