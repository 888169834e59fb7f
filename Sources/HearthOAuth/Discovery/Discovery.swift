import HearthCore
import Synchronization

/// The source of an OAuth provider's endpoints: the configuration or discovery.
enum EndpointSource: Sendable {
  case named(ProviderEndpoints)
  case discovered(Discovery)

  func endpoints() async throws(RefreshFailure) -> ProviderEndpoints {
    switch self {
    case .named(let endpoints): endpoints
    case .discovered(let discovery): try await discovery.endpoints()
    }
  }

  /// Repeats discovery after the token endpoint returned 404. Returns the new endpoints, or `nil` if the token endpoint
  /// is unchanged or the endpoints do not come from discovery.
  func moved(from old: ProviderEndpoints) async throws(RefreshFailure) -> ProviderEndpoints? {
    switch self {
    case .named: return nil
    case .discovered(let discovery):
      let endpoints = try await discovery.fetch()
      return endpoints.token == old.token ? nil : endpoints
    }
  }
}

/// Fetches the endpoints of an OpenID Connect issuer (OIDC Discovery 1.0, section 4) and caches them for an hour.
///
/// If the issuer is temporarily unavailable, the last known endpoints stay in use.
final class Discovery: Sendable {
  let issuer: Issuer
  private let sender: HTTPSender
  private let files: any FileSystem
  private let timeout: Duration
  private let route: HTTPRoute
  /// Whether to use the endpoints for clients with a certificate (RFC 8705, section 5).
  private let prefersMutualTLS: Bool
  /// The account type that messages suggest for configuring the endpoints explicitly.
  private let typeWithEndpoints: AccountType
  private let known = Mutex<(endpoints: ProviderEndpoints, at: Timestamp)?>(nil)

  init(
    issuer: Issuer, sender: HTTPSender, files: any FileSystem, timeout: Duration, route: HTTPRoute = HTTPRoute(),
    prefersMutualTLS: Bool = false, typeWithEndpoints: AccountType = .oauth2
  ) {
    self.issuer = issuer
    self.sender = sender
    self.files = files
    self.timeout = timeout
    self.route = route
    self.prefersMutualTLS = prefersMutualTLS
    self.typeWithEndpoints = typeWithEndpoints
  }

  func endpoints() async throws(RefreshFailure) -> ProviderEndpoints {
    let known = known.withLock { $0 }
    // If the clock was set back, the age is negative, which also causes a new request.
    if let known, .zero ..< .seconds(3600) ~= sender.clock.now() - known.at { return known.endpoints }
    do {
      return try await fetch()
    } catch {
      switch error {
      case .unreachable, .unavailable: break
      case .unanswered, .unclear, .rejected, .misconfigured: throw error
      }
      guard let known else { throw error }
      return known.endpoints
    }
  }

  func fetch() async throws(RefreshFailure) -> ProviderEndpoints {
    let (response, place) = try await sender.document(
      at: issuer.discoveryURL, over: route, files: files, timeout: timeout, failure: "Discovery failed")
    let endpoints = try await response.read { (response) throws(RefreshFailure) in
      try self.read(response, from: place)
    }
    let now = sender.clock.now()
    known.withLock { $0 = (endpoints, now) }
    return endpoints
  }

  /// Reads a discovery document. `place` says where the document was found, for messages.
  func read(_ response: HTTPResponse, from place: String? = nil) throws(RefreshFailure) -> ProviderEndpoints {
    let place = place ?? issuer.discoveryURL.description
    guard response.status == 200 else {
      // A proxy may respond with 404 while the provider behind it is starting, so this failure counts as temporary.
      let message =
        response.status == 404
        ? "Discovery failed: \(place) was not found (HTTP 404). If this persists, check the issuer."
        : "Discovery failed: HTTP \(response.status) from \(place)."
      throw .unavailable(message: message, retryAfter: response.retryAfter)
    }
    guard let document = JSONValue(parsing: response.body), document.object != nil else {
      throw .unavailable(
        message: "Discovery failed: \(response.kindWithoutDocument) from \(place).", retryAfter: response.retryAfter)
    }
    guard let named = document["issuer"]?.text, issuer.name.mayCallItself(named) else {
      throw .misconfigured(message: otherIssuer(document["issuer"]?.text))
    }
    func url(_ name: String) -> HTTPURL? {
      let alias = prefersMutualTLS ? document["mtls_endpoint_aliases"]?[name]?.text : nil
      // If the issuer uses TLS, its endpoints must use TLS too. Hearth allows plain HTTP only to this machine, so with
      // http endpoints a provider could make Hearth send requests to servers on this machine.
      let url = (alias ?? document[name]?.text).flatMap { try? HTTPURL($0) }
      return url?.origin.scheme == "https" || issuer.discoveryURL.origin.scheme == "http" ? url : nil
    }
    guard let token = url("token_endpoint") else {
      throw .misconfigured(message: "The issuer \(issuer.text) does not publish a usable token endpoint.")
    }
    var endpoints = ProviderEndpoints(
      token: token, authorization: url("authorization_endpoint"),
      deviceAuthorization: url("device_authorization_endpoint"), revocation: url("revocation_endpoint"),
      userInfo: url("userinfo_endpoint"))
    endpoints.endSession = url("end_session_endpoint")
    func names(_ name: String) -> [String]? {
      if case .array(let values) = document[name] { values.compactMap(\.text) } else { nil }
    }
    endpoints.authenticationMethods = names("token_endpoint_auth_methods_supported")
    endpoints.signingAlgorithms = names("token_endpoint_auth_signing_alg_values_supported")
    endpoints.scopes = names("scopes_supported")
    endpoints.registration = url("registration_endpoint")
    endpoints.pushedRequest = url("pushed_authorization_request_endpoint")
    endpoints.requiresPushedRequest = document["require_pushed_authorization_requests"]?.isTrue == true
    endpoints.keys = url("jwks_uri")
    endpoints.issuer = issuer.name.standsForMany ? nil : named
    endpoints.namesIssuer = document["authorization_response_iss_parameter_supported"]?.isTrue == true
    return endpoints
  }

  /// Returns a message that says what to do if the document names another issuer or none. Oracle identity domains and
  /// Azure AD B2C user flows name an issuer that has no discovery document, so no value of `issuer` works for them.
  private func otherIssuer(_ named: String?) -> String {
    let name = named.map { Redactor(EmptyCollection<Secret>()).line($0) } ?? ""
    let sentence =
      named == nil
      ? "The discovery document of \(issuer.text) does not name an issuer."
      : "The issuer is configured as \(issuer.text), but its discovery document names \(name)."
    let own = named.flatMap { try? Issuer($0) }?.discoveryURL
    let remedy = "To use that issuer, run \"hearthctl account set ACCOUNT issuer \(name)\"."
    if own == issuer.discoveryURL { return "\(sentence) \(remedy)" }
    let endpoints =
      "type = \"\(typeWithEndpoints.rawValue)\" and the endpoints that \(issuer.discoveryURL) lists: token_endpoint"
      + (typeWithEndpoints == .oauth2 ? ", authorization_endpoint and so on." : ".")
    guard own != nil else { return "\(sentence) Instead of the issuer, use \(endpoints)" }
    return "\(sentence) \(remedy) If that issuer has no discovery document, use \(endpoints)"
  }
}
