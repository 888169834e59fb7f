import HearthCore
import HearthOAuth
import HearthRuntime
import HearthStorage

/// What an account's configuration becomes: values of the parts that serve it.
extension AccountConfiguration {
  /// `files`: where the client's secret is read from.
  func providerConfiguration(_ files: any FileSystem) throws -> ProviderConfiguration {
    ProviderConfiguration(kind: try providerKind(files), subject: subject, defaultLifetime: defaultLifetime)
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

  /// Whether the issuer is what the configuration names, and not the origin that stands in for one.
  private var isIssuerConfigured: Bool {
    switch provider {
    case .oidc, .clientCredentials(.issuer, _): true
    case .oauth2, .json, .firebase, .clientCredentials(.endpoints, _): false
    }
  }

  func sessionSettings(_ refresh: RefreshSettings, home: GrantHome) -> SessionSettings {
    let renewsWithoutRefreshToken =
      switch provider {
      case .clientCredentials: true
      case .oidc, .oauth2, .firebase, .json: false
      }
    return SessionSettings(
      refresh: refresh, locksWhenUnreadable: lockOn.contains(.unreadable),
      renewsWithoutRefreshToken: renewsWithoutRefreshToken, bearer: bearer,
      configuredSubject: subject.map {
        Subject(issuer: issuerText ?? "", id: $0, isIssuerAssumed: !isIssuerConfigured)
      }, home: home)
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

extension OAuthClient {
  fileprivate init(_ client: AccountConfiguration.Client, _ files: any FileSystem) {
    self.init(
      id: client.id, secret: client.secretFile.map { ClientSecret(file: $0, files: files) }, scopes: client.scopes)
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
