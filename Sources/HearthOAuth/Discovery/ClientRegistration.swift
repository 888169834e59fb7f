package import HearthCore

/// Registers a new client with a provider (RFC 7591; OpenID Connect Dynamic Client Registration 1.0).
package struct ClientRegistration: Sendable {
  package struct Client: Sendable {
    package let id: String
    /// The client's secret, or `nil` if the provider did not issue one.
    package let secret: Secret?
    /// The value of `client_auth` that the provider chose, or `nil` to use the default.
    package let authentication: String?
  }

  private static let device = "urn:ietf:params:oauth:grant-type:device_code"
  private static let offline = "offline_access"

  private let endpoint: HTTPURL
  private let endpoints: ProviderEndpoints
  private let provider: ProviderConfiguration

  /// Returns `nil` if the provider does not support registration.
  package init?(_ provider: ProviderConfiguration, _ endpoints: ProviderEndpoints?) {
    guard let endpoints, let endpoint = endpoints.registration else { return nil }
    (self.provider, self.endpoints, self.endpoint) = (provider, endpoints, endpoint)
  }

  /// Registers a client. `token` is an initial access token (RFC 7591, section 3), if the user has one.
  package func register(
    token: Secret?, sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) -> Client {
    var request = HTTPSender.Request.json(metadata, to: endpoint)
    if let token { request.headers.append(APIRequest.Header(name: "Authorization", value: "Bearer \(token.reveal())")) }
    return try read(try await sender.send(request, over: provider.route, files: files, timeout: timeout), token)
  }

  /// The client's metadata. Describes a native application, without a secret if the provider allows that.
  private var metadata: [String: JSONValue] {
    var grants = ["authorization_code", "refresh_token"]
    if endpoints.deviceAuthorization != nil { grants.append(Self.device) }
    let offered = ["openid", Self.offline].filter { endpoints.scopes?.contains($0) ?? ($0 == "openid") }
    let redirect = provider.signIn.redirect ?? RedirectAddress()
    let port = redirect.port.map { ":\($0)" } ?? ""
    return [
      "client_name": .string("Hearth"), "application_type": .string("native"),
      "redirect_uris": .array([.string("http://\(redirect.host)\(port)\(redirect.path)")]),
      "response_types": .array([.string("code")]), "grant_types": .array(grants.map { .string($0) }),
      "token_endpoint_auth_method": .string(method), "scope": .string(offered.joined(separator: " ")),
    ]
  }

  private var method: String {
    guard let known = endpoints.authenticationMethods, !known.contains("none") else { return "none" }
    return ["client_secret_basic", "client_secret_post"].first(where: known.contains) ?? "none"
  }

  private func read(_ response: HTTPResponse, _ token: Secret?) throws(RefreshFailure) -> Client {
    let document = JSONValue(parsing: response.body)
    if (200...201).contains(response.status), let id = document?["client_id"]?.name {
      let named = document?["token_endpoint_auth_method"]?.text
      let secret = named == "none" ? nil : document?["client_secret"]?.text.map { Secret($0) }
      let authentication = secret.flatMap { _ in
        switch named {
        case "client_secret_post": "post"
        case "client_secret_basic": "basic"
        default: nil as String?
        }
      }
      return Client(id: id, secret: secret, authentication: authentication)
    }
    let error = ResponseError(document)
    let redactor = Redactor([token].compactMap(\.self))
    let why = [error.codes.first, error.descriptions.first].compactMap(\.self).map { redactor.line($0) }
    let said = (["HTTP \(response.status)"] + why).joined(separator: ", ")
    let other = "register a client there yourself and pass its ID with --client-id."
    switch response.status {
    case 401 where token != nil, 403 where token != nil:
      throw .misconfigured(
        message: "\(endpoint.origin) rejected the initial access token (\(said)). Get another token from its "
          + "operator, or \(other)")
    case 401, 403:
      throw .misconfigured(
        message: "\(endpoint.origin) does not allow open client registration (\(said)). Get an initial access "
          + "token from its operator and pass it with --registration-token-stdin, or \(other)")
    case 408, 429, 500...:
      throw .unavailable(
        message: "\(endpoint.origin) cannot register a client now (\(said)).", retryAfter: response.retryAfter)
    default:
      throw .misconfigured(
        message: "\(endpoint.origin) did not register a client (\(said)). To use this provider, \(other)")
    }
  }
}
