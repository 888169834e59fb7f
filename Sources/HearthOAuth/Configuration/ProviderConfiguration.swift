package import HearthCore

/// What an account's configuration says about its provider, and about the APIs that its tokens are for.
package struct ProviderConfiguration: Hashable, Sendable {
  /// Where grants come from, and what it takes to ask for them.
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

  package var kind: Kind
  /// The user's name where the provider does not tell it.
  package var subject: String?
  /// How long an access token lives where the response does not tell it.
  package var defaultLifetime: Duration?
  /// The token that APIs are shown.
  package var bearer = BearerKind.accessToken
  /// Hearth itself sends this account's token to these origins only.
  package var apiOrigins: [Origin] = []
  /// Error codes of this provider that end a session, besides the known ones.
  package var finalErrors: Set<String> = []
  /// What errors of this provider mean where they differ from those of others; the first rule that fits counts.
  package var responseRules: [ResponseRule] = []
  /// The scopes are named again in each refresh (RFC 6749, section 6).
  package var sendsScopeOnRefresh = true
  /// The field of the UserInfo response that names the user; dots are for nesting.
  package var userInfoSubjectField = "sub"
  /// Further fields of every token request, by name.
  package var tokenParameters: [String: String] = [:]
  /// Further fields of the authorization request, by name.
  package var authorizationParameters: [String: String] = [:]
  package var route = HTTPRoute()

  /// Where this account's grants belong.
  package var binding: TokenBinding {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _):
      TokenBinding(discoveredBy: issuer.text, at: issuer.discoveryURL.origin)
    case .oauth(.named(let endpoints), _), .clientCredentials(.named(let endpoints), _):
      TokenBinding(named: endpoints.token.origin)
    case .json(let backend):
      TokenBinding(named: backend.refreshURL.origin)
    case .firebase(let project):
      // A Firebase issuer is named after its project, whatever the origin of the token endpoint.
      TokenBinding(named: project.tokenURL.origin, isToldByIssuer: false)
    }
  }

  /// The issuer of a subject that is told without one.
  package var defaultIssuer: DefaultIssuer {
    switch kind {
    case .oauth(.discovered(let issuer), _), .clientCredentials(.discovered(let issuer), _): DefaultIssuer(issuer)
    case .oauth(.named, _), .clientCredentials(.named, _), .json, .firebase: DefaultIssuer(assumed: binding.origin)
    }
  }

  /// What the session needs to know about its provider.
  package func complete(_ settings: inout SessionSettings) {
    settings.renewsWithoutRefreshToken = if case .clientCredentials = kind { true } else { false }
    settings.bearer = bearer
    settings.issuer = defaultIssuer.text
    settings.configuredSubject = subject.map(defaultIssuer.subject)
    settings.binding = binding
  }

  /// Firebase's, for each Firebase account.
  private var ownRules: [ResponseRule] {
    if case .firebase = kind { ProviderPreset.firebase.responseRules } else { [] }
  }

  /// The token endpoint of this account. `sender` makes fresh connections; secrets, keys and certificates are read from
  /// `files`; `timeout` is for each request.
  package func tokenEndpoint(
    sender: HTTPSender, files: any FileSystem, timeout: Duration
  ) -> any TokenEndpoint {
    let exchange = TokenExchange(
      sender: sender, files: files, timeout: timeout, defaultLifetime: defaultLifetime,
      finalErrors: finalErrors, responseRules: responseRules + ownRules, binding: binding, route: route,
      parameters: tokenParameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    func source(_ authority: Authority, for client: OAuthClient) -> EndpointSource {
      switch authority {
      case .discovered(let issuer):
        .discovered(
          Discovery(
            issuer: issuer, sender: sender, files: files, timeout: timeout, route: route,
            prefersMutualTLS: client.authentication == .tls))
      case .named(let endpoints): .named(endpoints)
      }
    }
    switch kind {
    case .oauth(let authority, let client):
      return OAuthTokenEndpoint(
        source: source(authority, for: client), client: client, exchange: exchange,
        sendsScopeOnRefresh: sendsScopeOnRefresh, userInfoSubjectField: userInfoSubjectField)
    case .clientCredentials(let authority, let client):
      return ClientCredentialsTokenEndpoint(
        source: source(authority, for: client), client: client, subject: subject, exchange: exchange)
    case .json(let backend):
      return JSONTokenEndpoint(backend: backend, exchange: exchange)
    case .firebase(let project):
      return FirebaseTokenEndpoint(project: project, exchange: exchange)
    }
  }
}

extension ProviderConfiguration {
  /// Reads an account's table. The keys of the account win over its preset. `proxies`: those that the environment names.
  package init(reading table: TableReader<ProviderKey>, proxies: ProxyEnvironment) throws(ConfigurationError) {
    let preset = try ProviderPreset(reading: table)
    guard let type = try table.choice(.type, as: AccountType.self) ?? preset?.accountType else {
      throw table.error("lacks \"type\"")
    }
    for key in ProviderKey.allCases where table.has(key) && !key.types.contains(type) {
      throw table.error(key, "means nothing for an account of type \"\(type.rawValue)\"")
    }
    if let preset, !preset.suits(type) {
      throw table.error(.provider, "cannot be \"\(preset.name)\" for an account of type \"\(type.rawValue)\"")
    }
    kind = try Kind(reading: table, of: type, preset)
    apiOrigins = try table.origins(.apiOrigins)
    bearer = try table.choice(.bearer, as: BearerKind.self) ?? (type == .firebase ? .idToken : .accessToken)
    subject = try table.string(.subject)
    defaultLifetime = try table.duration(.defaultLifetime)
    tokenParameters = try table.tokenParameters()
    authorizationParameters = try table.authorizationParameters()
    finalErrors = Set(try table.strings(.finalErrors))
    route = try HTTPRoute(reading: table, usesMutualTLS: kind.usesMutualTLS, proxies: proxies)
    if let preset { apply(preset) }
    try requireTLS(for: table)
  }

  /// What is about TLS alone needs an address with TLS.
  private func requireTLS(for table: TableReader<ProviderKey>) throws(ConfigurationError) {
    guard binding.origin.scheme != "https" else { return }
    if !apiOrigins.contains(where: { $0.scheme == "https" }) {
      for key in [ProviderKey.caFile, .certificatePins] where table.has(key) {
        throw table.error(key, "means nothing where every address is http")
      }
    }
    if table.has(.clientCertificateFile) {
      throw table.error(.clientCertificateFile, "means nothing where the provider's address is http")
    }
  }
}
