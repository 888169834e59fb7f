package import HearthCore

extension ProviderConfiguration {
  /// Where grants come from, and what it takes to ask for them.
  ///
  /// A new kind gets a case here, its type of account and its keys in `ProviderKey.swift`, and a file of its own with the
  /// `TokenEndpoint`.
  package enum Kind: Hashable, Sendable {
    /// RFC 6749, section 6; OpenID Connect Core, section 12.
    case oauth(Authority, OAuthClient)
    /// The client's own grant, requested anew each time (RFC 6749, section 4.4).
    case clientCredentials(Authority, OAuthClient)
    /// A backend's own refresh call, with JSON in the request and in the response.
    case json(JSONBackend)
    case firebase(FirebaseProject)
  }

  /// Where the endpoints of an OAuth provider are known from.
  package enum Authority: Hashable, Sendable {
    case discovered(Issuer)
    case named(ProviderEndpoints)
  }
}

extension ProviderConfiguration.Kind {
  /// What the account leaves out, its preset says.
  init(
    reading table: TableReader<ProviderKey>, of type: AccountType, _ preset: ProviderPreset?
  ) throws(ConfigurationError) {
    let authentication = try ClientAuthentication(reading: table, preset)
    let (id, scopes) = (try table.string(.clientID), try table.scopes())
    func client() throws(ConfigurationError) -> OAuthClient {
      OAuthClient(id: try table.required(id, .clientID, for: type), authentication: authentication, scopes: scopes)
    }
    switch type {
    case .oidc:
      self = .oauth(.discovered(try table.required(table.issuer(preset), .issuer, for: type)), try client())
    case .oauth2:
      let token = try table.url(.tokenEndpoint) ?? preset?.endpoints?.token
      let endpoints = try table.endpoints(token: table.required(token, .tokenEndpoint, for: type), preset)
      self = .oauth(.named(endpoints), try client())
    case .clientCredentials:
      self = .clientCredentials(try table.authority(preset), try client())
    case .firebase:
      let apiKey = Secret(try table.required(table.string(.apiKey), .apiKey, for: type))
      self = .firebase(FirebaseProject(apiKey: apiKey, tokenEndpoint: try table.url(.tokenEndpoint)))
    case .json:
      let url = try table.required(table.url(.refreshURL), .refreshURL, for: type)
      self = .json(try JSONBackend(refreshURL: url, reading: table))
    }
  }

  /// The type of the account.
  package var type: AccountType {
    switch self {
    case .oauth(.discovered, _): .oidc
    case .oauth(.named, _): .oauth2
    case .clientCredentials: .clientCredentials
    case .json: .json
    case .firebase: .firebase
    }
  }

  /// The client authenticates by its certificate.
  var usesMutualTLS: Bool {
    switch self {
    case .oauth(_, let client), .clientCredentials(_, let client): client.authentication == .tls
    case .json, .firebase: false
    }
  }

  /// A grant is requested anew each time, without a refresh token.
  var renewsWithoutRefreshToken: Bool {
    switch self {
    case .clientCredentials: true
    case .oauth, .json, .firebase: false
    }
  }

  /// What errors mean, whatever the preset.
  var responseRules: [ResponseRule] {
    switch self {
    case .firebase: ProviderPreset.firebase.responseRules
    case .oauth: ProviderPreset.rulesOfAll
    case .clientCredentials, .json: []
    }
  }
}

extension ProviderConfiguration {
  /// Where this account's grants belong.
  package var binding: TokenBinding {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _):
      TokenBinding(discoveredBy: issuer.text, at: issuer.discoveryURL.origin)
    case .oauth(.named(let endpoints), _), .clientCredentials(.named(let endpoints), _):
      TokenBinding(named: endpoints.token.origin, endpoints: endpoints.origins)
    case .json(let backend):
      TokenBinding(named: backend.refreshURL.origin)
    case .firebase(let project):
      // A Firebase issuer is named after its project, whatever the origin of the token endpoint.
      TokenBinding(named: project.tokenURL.origin, isRecognizedByIssuer: false)
    }
  }

  /// The issuer of a subject that the provider names without one.
  package var defaultIssuer: DefaultIssuer {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _): DefaultIssuer(issuer)
    case .oauth(.named, _), .clientCredentials(.named, _), .json, .firebase: DefaultIssuer(assumed: binding.origin)
    }
  }

  /// Scopes for which a refresh has to ask again. Entra wants it of an account without the preset, too.
  private func offlineScopes(of client: OAuthClient) -> [String] {
    let isEntra = preset == nil && binding.origin.host == "login.microsoftonline.com"
    return isEntra ? client.scopes.filter { $0 == "offline_access" } : signIn.offlineScopes
  }

  /// Where the issuer tells its endpoints; nil where they are configured.
  package var discoveryURL: HTTPURL? {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _): issuer.discoveryURL
    case .oauth(.named, _), .clientCredentials(.named, _), .json, .firebase: nil
    }
  }

  /// What its tokens are asked for; what is not configured, the provider decides.
  package var offer: TokenOffer {
    let scopes: [String] =
      switch kind {
      case .oauth(_, let client), .clientCredentials(_, let client): client.scopes
      case .json, .firebase: []
      }
    return TokenOffer(scopes: scopes, audience: tokenParameters["audience"])
  }

  /// For whom this account's ID tokens are: the client, or the audience that it asks for.
  private var audiences: Set<String> {
    switch kind {
    case .oauth(_, let client), .clientCredentials(_, let client):
      Set([client.id, tokenParameters["audience"]].compactMap(\.self))
    case .json, .firebase: []
    }
  }

  /// The token endpoint of this account, and what it signs in with; both know what discovery has told one of them.
  /// `sender` makes fresh connections; secrets, keys and certificates are read from `files`; `timeout` is for each request.
  package func endpoints(
    sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) -> (tokens: any TokenEndpoint, signIn: any SignInEndpoint) {
    let exchange = TokenExchange(
      sender: sender, files: files, timeout: timeout, defaultLifetime: defaultLifetime,
      finalErrors: finalErrors, responseRules: responseRules + kind.responseRules, binding: binding,
      issuer: defaultIssuer, audiences: audiences, route: route,
      parameters: tokenParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    func oauth(_ authority: Authority, _ client: OAuthClient) -> OAuthTokenEndpoint {
      OAuthTokenEndpoint(
        source: source(of: authority, for: client, sender: sender, files: files, timeout: timeout), client: client,
        exchange: exchange, sendsScopeOnRefresh: sendsScopeOnRefresh, offlineScopes: offlineScopes(of: client),
        userInfoSubjectField: userInfoSubjectField)
    }
    switch kind {
    case .oauth(let authority, let client):
      let tokens = oauth(authority, client)
      return (tokens, signInEndpoint(beside: tokens, authority))
    case .clientCredentials(let authority, let client):
      let tokens = ClientCredentialsTokenEndpoint(endpoint: oauth(authority, client), subject: subject)
      return (tokens, ClientCredentialsSignInEndpoint())
    case .json(let backend):
      return (
        JSONTokenEndpoint(backend: backend, exchange: exchange),
        JSONSignInEndpoint(backend: backend, exchange: exchange)
      )
    case .firebase(let project):
      return (
        FirebaseTokenEndpoint(project: project, exchange: exchange),
        FirebaseSignInEndpoint(project: project, exchange: exchange)
      )
    }
  }

  private func source(
    of authority: Authority, for client: OAuthClient, sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) -> EndpointSource {
    switch authority {
    case .discovered(let issuer):
      .discovered(
        Discovery(
          issuer: issuer, sender: sender, files: files, timeout: timeout, route: route,
          prefersMutualTLS: client.authentication == .tls))
    case .named(let endpoints): .named(endpoints)
    }
  }

  /// The endpoints of an OAuth provider, asked for where they are not named; nil for another kind of provider.
  package func oauthEndpoints(
    sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) -> ProviderEndpoints? {
    switch kind {
    case .oauth(let authority, let client), .clientCredentials(let authority, let client):
      try await source(of: authority, for: client, sender: sender, files: files, timeout: timeout).endpoints()
    case .json, .firebase: nil
    }
  }

  private func signInEndpoint(beside tokens: OAuthTokenEndpoint, _ authority: Authority) -> OAuthSignInEndpoint {
    let issuer: IssuerName? =
      switch authority {
      case .discovered(let issuer): issuer.name
      case .named: nil
      }
    let idTokens = IDTokenValidator(
      exchange: tokens.exchange, client: tokens.client, issuer: issuer, keys: PublicKeySet(tokens.exchange))
    return OAuthSignInEndpoint(
      tokens: tokens, settings: signIn, authorizationParameters: authorizationParameters, idTokens: idTokens)
  }
}
