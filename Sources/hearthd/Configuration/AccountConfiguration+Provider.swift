import HearthCore
import HearthOAuth

extension TableReader<AccountConfiguration.Key> {
  private typealias Account = AccountConfiguration

  /// Where grants come from. What the account leaves open its preset says.
  func provider(
    _ kind: AccountConfiguration.Kind, _ preset: ProviderPreset?
  ) throws(ConfigurationError) -> AccountConfiguration.Provider {
    let authentication = try clientAuthentication(preset?.clientAuthentication)
    let (id, scopes) = (try string(.clientID), try scopes())
    func client() throws(ConfigurationError) -> Account.Client {
      Account.Client(id: try required(id, .clientID, for: kind), authentication: authentication, scopes: scopes)
    }
    switch kind {
    case .oidc:
      return .oidc(issuer: try required(issuer(preset), .issuer, for: kind), try client())
    case .oauth2:
      let token = try url(.tokenEndpoint) ?? preset?.endpoints?.token
      return .oauth2(try endpoints(token: required(token, .tokenEndpoint, for: kind), preset), try client())
    case .firebase:
      let apiKey = Secret(try required(string(.apiKey), .apiKey, for: kind))
      return .firebase(apiKey: apiKey, tokenEndpoint: try url(.tokenEndpoint))
    case .json:
      var backend = Account.JSONBackend(refreshURL: try required(url(.refreshURL), .refreshURL, for: kind))
      backend.loginURL = try url(.loginURL)
      backend.refreshTokenField = try fieldName(.refreshTokenField) ?? backend.refreshTokenField
      backend.accessTokenField = try fieldName(.accessTokenField) ?? backend.accessTokenField
      backend.expiresInField = try fieldName(.expiresInField) ?? backend.expiresInField
      return .json(backend)
    case .clientCredentials:
      return .clientCredentials(try authority(preset), try client())
    }
  }

  private func authority(_ preset: ProviderPreset?) throws(ConfigurationError) -> Account.Authority {
    var (issuer, token) = (try issuer(), try url(.tokenEndpoint))
    if issuer == nil, token == nil, let preset {
      (issuer, token) = (try self.issuer(preset), preset.endpoints?.token)
    }
    switch (issuer, token) {
    case (let issuer?, nil):
      for key in [Key.revocationEndpoint, .userInfoEndpoint] where has(key) {
        throw error(key, "means nothing beside \"issuer\", which tells the endpoints")
      }
      return .issuer(issuer)
    case (nil, let token?): return .endpoints(try endpoints(token: token, preset))
    case (nil, nil):
      throw error("lacks \"token_endpoint\" or \"issuer\", one of which type \"client-credentials\" needs")
    case (.some, .some): throw error("has both \"issuer\" and \"token_endpoint\"; one of them is enough")
    }
  }

  private func required<Value>(_ value: Value?, _ key: Key, for kind: Account.Kind) throws(ConfigurationError) -> Value
  {
    guard let value else { throw error("lacks \"\(key.rawValue)\", which type \"\(kind.rawValue)\" needs") }
    return value
  }

  /// As it stands, for issuers are compared by their text (OpenID Connect Discovery 1.0, sections 3 and 4.3).
  private func issuer(_ preset: ProviderPreset? = nil) throws(ConfigurationError) -> String? {
    guard let text = try string(.issuer), try url(.issuer) != nil else {
      if case .ownIssuer(let example)? = preset?.place {
        throw error("lacks \"issuer\", which provider \"\(preset?.name ?? "")\" needs, like \"\(example)\"")
      }
      return preset?.issuer
    }
    guard !text.contains("?") else { throw error(.issuer, "cannot be \"\(text)\": it has a query") }
    return text
  }

  private func endpoints(
    token: HTTPURL, _ preset: ProviderPreset?
  ) throws(ConfigurationError) -> Account.Endpoints {
    let known = preset?.endpoints
    return Account.Endpoints(
      token: token, authorization: try url(.authorizationEndpoint) ?? known?.authorization,
      deviceAuthorization: try url(.deviceAuthorizationEndpoint) ?? known?.deviceAuthorization,
      revocation: try url(.revocationEndpoint) ?? known?.revocation,
      userInfo: try url(.userInfoEndpoint) ?? known?.userInfo)
  }
}
