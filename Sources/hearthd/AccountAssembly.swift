import HearthCore
import HearthOAuth
import HearthRuntime
import HearthStorage

/// What an account's configuration becomes: values of the parts that serve it.
extension AccountConfiguration {
  /// `files`: where secrets, keys and certificates are read from. `environment`: the proxies it names.
  func providerConfiguration(
    _ files: any FileSystem, environment: ProxyEnvironment
  ) throws -> ProviderConfiguration {
    var configuration = ProviderConfiguration(
      kind: try providerKind(files), subject: subject, defaultLifetime: defaultLifetime)
    configuration.finalErrors = Set(finalErrors)
    configuration.tokenParameters = tokenParameters
    if let preset = preset.flatMap(ProviderPreset.named) { configuration.apply(preset) }
    configuration.route = route(files, environment: environment)
    return configuration
  }

  /// How this account's requests travel, to the provider and to APIs.
  private func route(_ files: any FileSystem, environment: ProxyEnvironment) -> HTTPRoute {
    var route = HTTPRoute()
    route.authorities = connection.caFile.map { path in
      // All authorities of a system fit into it.
      ClientFile("ca_file", at: path, files: files, limit: 1 << 20)
    }
    route.pins = connection.pins
    route.proxy = connection.proxy ?? .environment(environment)
    switch provider {
    case .oidc(_, let client), .oauth2(_, let client), .clientCredentials(_, let client):
      route.identity = client.authentication.identity(files)
    case .json, .firebase: break
    }
    return route
  }

  private func providerKind(_ files: any FileSystem) throws -> ProviderConfiguration.Kind {
    switch provider {
    case .oidc(let issuer, let client):
      return .oidc(try Issuer(issuer), OAuthClient(client, files))
    case .oauth2(let endpoints, let client):
      return .oauth2(ProviderEndpoints(endpoints), OAuthClient(client, files))
    case .firebase(let apiKey, let endpoint):
      return .firebase(FirebaseProject(apiKey: apiKey, tokenEndpoint: endpoint))
    case .json(let backend):
      var fields = HearthOAuth.JSONBackend(refreshURL: backend.refreshURL, loginURL: backend.loginURL)
      fields.refreshTokenField = backend.refreshTokenField
      fields.accessTokenField = backend.accessTokenField
      fields.expiresInField = backend.expiresInField
      return .json(fields)
    case .clientCredentials(.issuer(let issuer), let client):
      return .clientCredentials(.discovered(try Issuer(issuer)), OAuthClient(client, files))
    case .clientCredentials(.endpoints(let endpoints), let client):
      return .clientCredentials(.named(ProviderEndpoints(endpoints)), OAuthClient(client, files))
    }
  }

  /// The issuer that clients are told while the session knows none.
  var issuerText: String? {
    switch provider {
    case .oidc(let issuer, _), .clientCredentials(.issuer(let issuer), _): issuer
    case .oauth2(let endpoints, _), .clientCredentials(.endpoints(let endpoints), _):
      endpoints.token.origin.description
    case .json(let backend): backend.refreshURL.origin.description
    case .firebase(_, let endpoint): endpoint?.origin.description ?? "https://securetoken.googleapis.com"
    }
  }

  func sessionSettings(_ refresh: RefreshSettings, binding: TokenBinding) -> SessionSettings {
    let renewsWithoutRefreshToken =
      switch provider {
      case .clientCredentials: true
      case .oidc, .oauth2, .firebase, .json: false
      }
    return SessionSettings(
      refresh: refresh, locksWhenUnreadable: lockOn.contains(.unreadable),
      renewsWithoutRefreshToken: renewsWithoutRefreshToken, bearer: bearer,
      configuredSubject: subject.map {
        Subject(issuer: issuerText ?? "", id: $0, isIssuerAssumed: isIssuerAssumed)
      }, binding: binding)
  }

  /// The issuer is nobody's word: the origin of the token endpoint, or a name that stands for many.
  private var isIssuerAssumed: Bool {
    switch provider {
    case .oidc(let issuer, _), .clientCredentials(.issuer(let issuer), _): IssuerName(issuer).standsForMany
    case .oauth2, .clientCredentials(.endpoints, _), .json, .firebase: true
    }
  }

  var storedProtection: (protection: HearthStorage.Protection, keyFile: String?) {
    switch protection {
    case .none: (.none, formerKeyFile)
    case .passphrase: (.passphrase, formerKeyFile)
    case .secretService: (.secretService, formerKeyFile)
    case .keyFile(let path): (.keyFile, path)
    }
  }
}

extension AccountConfiguration.Client.Authentication {
  /// Nil: it shows no certificate.
  fileprivate func identity(_ files: any FileSystem) -> HTTPRoute.Identity? {
    switch self {
    case .tls(let certificate, let key):
      HTTPRoute.Identity(
        certificate: ClientFile("client certificate", at: certificate, files: files),
        key: ClientFile("client key", at: key, files: files))
    case .automatic, .none, .basic, .post, .privateKeyJWT, .appleSecret: nil
    }
  }

  fileprivate func provided(by files: any FileSystem) -> ClientAuthentication {
    switch self {
    case .automatic(let file): .automatic(file.map { ClientSecret(file: $0, files: files) })
    case .none: .none
    case .basic(let file): .basic(ClientSecret(file: file, files: files))
    case .post(let file): .post(ClientSecret(file: file, files: files))
    case .privateKeyJWT(let key): .assertion(ClientKey(key, files))
    case .appleSecret(let key, let teamID): .appleSecret(ClientKey(key, files), teamID: teamID)
    case .tls: .tls
    }
  }
}

extension ClientKey {
  fileprivate init(_ key: AccountConfiguration.Client.Key, _ files: any FileSystem) {
    self.init(
      file: ClientFile("client key", at: key.file, files: files),
      certificate: key.certificateFile.map { ClientFile("client certificate", at: $0, files: files) },
      id: key.id, audience: key.audience)
  }
}

extension OAuthClient {
  fileprivate init(_ client: AccountConfiguration.Client, _ files: any FileSystem) {
    self.init(id: client.id, authentication: client.authentication.provided(by: files), scopes: client.scopes)
  }
}

extension ProviderEndpoints {
  fileprivate init(_ endpoints: AccountConfiguration.Endpoints) {
    self.init(
      token: endpoints.token, authorization: endpoints.authorization,
      deviceAuthorization: endpoints.deviceAuthorization, revocation: endpoints.revocation,
      userInfo: endpoints.userInfo)
  }
}
