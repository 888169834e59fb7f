package import HearthCore

extension ProviderConfiguration {
  /// The kind of provider that issues the grants, with the data needed to request them.
  ///
  /// To add a kind, add a case here, its account type and keys in `ProviderKey.swift`, and a new file with its
  /// `TokenEndpoint`.
  package enum Kind: Hashable, Sendable {
    /// OAuth with refresh tokens (RFC 6749, section 6; OpenID Connect Core, section 12).
    case oauth(Authority, OAuthClient)
    /// The client credentials grant (RFC 6749, section 4.4), without a user. Each refresh requests a new grant.
    case clientCredentials(Authority, OAuthClient)
    /// A backend with a nonstandard refresh endpoint, which accepts and returns JSON.
    case json(JSONBackend)
    case firebase(FirebaseProject)
  }

  /// How Hearth finds an OAuth provider's endpoints.
  package enum Authority: Hashable, Sendable {
    case discovered(Issuer)
    case named(ProviderEndpoints)

    var issuer: Issuer? {
      if case .discovered(let issuer) = self { issuer } else { nil }
    }
  }
}

extension ProviderConfiguration.Kind {
  /// Reads the provider's kind from an account's table. The preset fills in missing keys.
  init(reading table: TableReader<ProviderKey>, of type: AccountType, _ preset: ProviderPreset?) throws {
    let authentication = try ClientAuthentication(reading: table, preset)
    let (id, scopes) = (try table.string(.clientID), try table.scopes())
    func client() throws -> OAuthClient {
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

  package var type: AccountType {
    switch self {
    case .oauth(.discovered, _): .oidc
    case .oauth(.named, _): .oauth2
    case .clientCredentials: .clientCredentials
    case .json: .json
    case .firebase: .firebase
    }
  }

  /// The OAuth provider and client, or `nil` for other kinds of provider.
  var oauth: (authority: ProviderConfiguration.Authority, client: OAuthClient)? {
    switch self {
    case .oauth(let authority, let client), .clientCredentials(let authority, let client): (authority, client)
    case .json, .firebase: nil
    }
  }

  /// The client ID or API key. `nil` for a JSON backend, which has no client identifier.
  var client: Secret? {
    switch self {
    case .oauth(_, let client), .clientCredentials(_, let client): Secret(client.id)
    case .firebase(let project): project.apiKey
    case .json: nil
    }
  }

  /// The rules for this kind's errors, which apply with or without a preset.
  var responseRules: [ResponseRule] {
    switch self {
    case .firebase: ProviderPreset.firebase.responseRules
    case .oauth: ProviderPreset.rulesOfAll
    case .clientCredentials, .json: []
    }
  }
}

extension ProviderConfiguration {
  /// The provider to which the account's grants belong.
  package var binding: TokenBinding {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _):
      TokenBinding(discoveredBy: issuer.text, at: issuer.discoveryURL.origin)
    case .oauth(.named(let endpoints), _), .clientCredentials(.named(let endpoints), _):
      TokenBinding(named: endpoints.token.origin, endpoints: endpoints.origins)
    case .json(let backend):
      TokenBinding(named: backend.refreshURL.origin)
    case .firebase(let project):
      // A Firebase issuer is named after its project, so it says nothing about the token endpoint's origin.
      TokenBinding(named: project.tokenURL.origin, isRecognizedByIssuer: false)
    }
  }

  /// The issuer to record with a user's ID if the provider does not name an issuer.
  package var defaultIssuer: DefaultIssuer {
    kind.oauth?.authority.issuer.map { DefaultIssuer($0) } ?? DefaultIssuer(assumed: binding.origin)
  }

  /// Returns the scopes to add to refresh requests that list scopes: the preset's offline scopes or, for Entra without
  /// a preset, `offline_access` if the account's `scopes` contain it.
  private func offlineScopes(of client: OAuthClient) -> [String] {
    let isEntra = preset == nil && binding.origin.host == "login.microsoftonline.com"
    return isEntra ? client.scopes.filter { $0 == "offline_access" } : signIn.offlineScopes
  }

  /// The URL of the issuer's discovery document, or `nil` if the account does not use discovery.
  package var discoveryURL: HTTPURL? { kind.oauth?.authority.issuer?.discoveryURL }

  /// The scopes and the audience that the configuration requests, if any.
  package var offer: TokenOffer {
    TokenOffer(scopes: kind.oauth?.client.scopes ?? [], audience: tokenParameters["audience"])
  }

  /// The audiences accepted in this account's ID tokens: the client ID and any audience or resource (RFC 8707) that the
  /// account requests.
  private var audiences: Set<String> {
    guard let client = kind.oauth?.client else { return [] }
    return requestedAudiences.union([client.id])
  }

  /// The audiences and resources (RFC 8707) that the account requests.
  var requestedAudiences: Set<String> {
    Set([tokenParameters, authorizationParameters].flatMap { [$0["audience"], $0["resource"]] }.compactMap(\.self))
  }

  /// Returns the account's token and sign-in endpoints, which share the results of discovery. `sender` opens
  /// connections, `files` provides secrets, keys and certificates, and `timeout` applies to each request.
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
      let both = ClientCredentialsEndpoint(endpoint: oauth(authority, client), subject: subject)
      return (both, both)
    case .json(let backend):
      let both = JSONEndpoint(backend: backend, exchange: exchange)
      return (both, both)
    case .firebase(let project):
      let both = FirebaseEndpoint(project: project, exchange: exchange)
      return (both, both)
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
          prefersMutualTLS: client.authentication == .tls,
          typeWithEndpoints: kind.type == .clientCredentials ? .clientCredentials : .oauth2))
    case .named(let endpoints): .named(endpoints)
    }
  }

  /// Returns an OAuth provider's endpoints from the configuration or discovery, or `nil` for other kinds of provider.
  package func oauthEndpoints(
    sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) async throws(RefreshFailure) -> ProviderEndpoints? {
    guard let (authority, client) = kind.oauth else { return nil }
    return try await source(of: authority, for: client, sender: sender, files: files, timeout: timeout).endpoints()
  }

  private func signInEndpoint(beside tokens: OAuthTokenEndpoint, _ authority: Authority) -> OAuthSignInEndpoint {
    let idTokens = IDTokenValidator(
      exchange: tokens.exchange, client: tokens.client, issuer: authority.issuer?.name,
      keys: PublicKeySet(tokens.exchange))
    return OAuthSignInEndpoint(
      tokens: tokens, settings: signIn, authorizationParameters: authorizationParameters, idTokens: idTokens)
  }
}
