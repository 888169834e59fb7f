package import HearthCore

/// What an account's configuration says about its provider, parsed.
package struct ProviderConfiguration: Sendable {
  package enum Kind: Sendable {
    /// Endpoints by discovery.
    case oidc(Issuer, OAuthClient)
    /// Endpoints by name.
    case oauth2(ProviderEndpoints, OAuthClient)
    /// A backend's own refresh call, JSON in and out.
    case json(JSONBackend)
    case firebase(FirebaseProject)
    /// RFC 6749, section 4.4: the client's own grant, asked for anew each time.
    case clientCredentials(Authority, OAuthClient)
  }

  package enum Authority: Sendable {
    case discovered(Issuer)
    case named(ProviderEndpoints)
  }

  package var kind: Kind
  /// The user's name where the provider tells none.
  package var subject: String?
  /// How long an access token lives where nothing tells.
  package var defaultLifetime: Duration?
  /// Error codes of this provider that end a session, besides the known ones.
  package var finalErrors: Set<String> = []
  /// What this provider's refusals mean, where they do not mean what others' do; the first that fits counts.
  package var answerRules: [ResponseRule] = []
  /// The scopes are named again in each refresh (RFC 6749, section 6).
  package var sendsScopeOnRefresh = true
  /// The field of the userinfo endpoint's answer that names the user; dots are for nesting.
  package var userInfoSubjectField = "sub"
  /// Further fields of every token request, by name.
  package var tokenParameters: [String: String] = [:]
  package var route = HTTPRoute()

  package init(kind: Kind, subject: String? = nil, defaultLifetime: Duration? = nil) {
    self.kind = kind
    self.subject = subject
    self.defaultLifetime = defaultLifetime
  }

  /// Where this account's grants belong.
  package var binding: TokenBinding {
    switch kind {
    case .oidc(let issuer, _), .clientCredentials(.discovered(let issuer), _):
      TokenBinding(discoveredBy: issuer.text, at: issuer.discoveryURL.origin)
    case .oauth2(let endpoints, _), .clientCredentials(.named(let endpoints), _):
      TokenBinding(named: endpoints.token.origin)
    case .json(let backend):
      TokenBinding(named: backend.refreshURL.origin)
    case .firebase(let project):
      // Its issuer is that of the project, wherever it is asked.
      TokenBinding(named: project.tokenURL.origin, isToldByIssuer: false)
    }
  }

  /// Google's, of each Firebase account.
  private var ownRules: [ResponseRule] {
    if case .firebase = kind { ProviderPreset.firebase.answerRules } else { [] }
  }

  /// The token endpoint of this account. `timeout` is for each request to it; `sender` makes fresh connections.
  package func tokenEndpoint(sender: HTTPSender, timeout: Duration) -> any TokenEndpoint {
    let exchange = TokenExchange(
      sender: sender, timeout: timeout, configuredSubject: subject, defaultLifetime: defaultLifetime,
      finalErrors: finalErrors, answerRules: answerRules + ownRules, binding: binding, route: route,
      parameters: tokenParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    func source(_ authority: Authority, for client: OAuthClient) -> EndpointSource {
      switch authority {
      case .discovered(let issuer):
        .discovered(
          Discovery(
            issuer: issuer, sender: sender, timeout: timeout, route: route,
            prefersMutualTLS: client.usesMutualTLS))
      case .named(let endpoints): .named(endpoints)
      }
    }
    func oauth(_ source: EndpointSource, _ client: OAuthClient) -> OAuthTokenEndpoint {
      OAuthTokenEndpoint(
        source: source, client: client, exchange: exchange, sendsScopeOnRefresh: sendsScopeOnRefresh,
        userInfoSubjectField: userInfoSubjectField)
    }
    switch kind {
    case .oidc(let issuer, let client):
      return oauth(source(.discovered(issuer), for: client), client)
    case .oauth2(let endpoints, let client):
      return oauth(.named(endpoints), client)
    case .json(let backend):
      return JSONTokenEndpoint(backend: backend, exchange: exchange)
    case .firebase(let project):
      return FirebaseTokenEndpoint(project: project, exchange: exchange)
    case .clientCredentials(let authority, let client):
      return ClientCredentialsTokenEndpoint(source: source(authority, for: client), client: client, exchange: exchange)
    }
  }
}

/// Where a provider answers.
package struct ProviderEndpoints: Hashable, Sendable {
  package var token: HTTPURL
  package var authorization: HTTPURL?
  package var deviceAuthorization: HTTPURL?
  package var revocation: HTTPURL?
  package var userInfo: HTTPURL?
  /// How clients may authenticate, where discovery tells (`token_endpoint_auth_methods_supported`).
  package var authenticationMethods: [String]?
  /// What client assertions may be signed with, where discovery tells
  /// (`token_endpoint_auth_signing_alg_values_supported`).
  package var signingAlgorithms: [String]?

  package init(
    token: HTTPURL, authorization: HTTPURL? = nil, deviceAuthorization: HTTPURL? = nil, revocation: HTTPURL? = nil,
    userInfo: HTTPURL? = nil
  ) {
    self.token = token
    self.authorization = authorization
    self.deviceAuthorization = deviceAuthorization
    self.revocation = revocation
    self.userInfo = userInfo
  }
}

/// A backend's own calls, and what it calls its fields; dots in a name are for nesting.
package struct JSONBackend: Hashable, Sendable {
  package var refreshURL: HTTPURL
  package var loginURL: HTTPURL?
  package var refreshTokenField = "refresh_token"
  package var accessTokenField = "access_token"
  package var expiresInField = "expires_in"

  package init(refreshURL: HTTPURL, loginURL: HTTPURL? = nil) {
    self.refreshURL = refreshURL
    self.loginURL = loginURL
  }
}

package struct FirebaseProject: Sendable {
  package var apiKey: Secret
  /// Nil: Google's own.
  package var tokenEndpoint: HTTPURL?

  package init(apiKey: Secret, tokenEndpoint: HTTPURL? = nil) {
    self.apiKey = apiKey
    self.tokenEndpoint = tokenEndpoint
  }

  /// Without the key.
  var tokenURL: HTTPURL {
    if let tokenEndpoint { return tokenEndpoint }
    guard let own = try? HTTPURL("https://securetoken.googleapis.com/v1/token") else {
      preconditionFailure("Google's own token endpoint is a URL")
    }
    return own
  }
}
