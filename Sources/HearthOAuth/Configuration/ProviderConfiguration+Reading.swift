package import HearthCore

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

extension ProviderConfiguration.Kind {
  fileprivate init(
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
      var backend = JSONBackend(refreshURL: try table.required(table.url(.refreshURL), .refreshURL, for: type))
      backend.loginURL = try table.url(.loginURL)
      backend.refreshTokenField = try table.fieldName(.refreshTokenField) ?? backend.refreshTokenField
      backend.accessTokenField = try table.fieldName(.accessTokenField) ?? backend.accessTokenField
      backend.expiresInField = try table.fieldName(.expiresInField) ?? backend.expiresInField
      self = .json(backend)
    }
  }

  fileprivate var usesMutualTLS: Bool {
    switch self {
    case .oauth(_, let client), .clientCredentials(_, let client): client.authentication == .tls
    case .json, .firebase: false
    }
  }
}

extension TableReader<ProviderKey> {
  fileprivate func required<Value>(
    _ value: Value?, _ key: ProviderKey, for type: AccountType
  ) throws(ConfigurationError) -> Value {
    guard let value else { throw error("lacks \"\(key.rawValue)\", which type \"\(type.rawValue)\" needs") }
    return value
  }

  fileprivate func authority(
    _ preset: ProviderPreset?
  ) throws(ConfigurationError) -> ProviderConfiguration.Authority {
    var (issuer, token) = (try issuer(nil), try url(.tokenEndpoint))
    if issuer == nil, token == nil, let preset {
      (issuer, token) = (try self.issuer(preset), preset.endpoints?.token)
    }
    switch (issuer, token) {
    case (let issuer?, nil):
      for key in [ProviderKey.revocationEndpoint, .userInfoEndpoint] where has(key) {
        throw error(key, "means nothing beside \"issuer\", which tells the endpoints")
      }
      return .discovered(issuer)
    case (nil, let token?): return .named(try endpoints(token: token, preset))
    case (nil, nil):
      throw error("lacks \"token_endpoint\" or \"issuer\", one of which type \"client-credentials\" needs")
    case (.some, .some): throw error("has both \"issuer\" and \"token_endpoint\"; one of them is enough")
    }
  }

  fileprivate func issuer(_ preset: ProviderPreset?) throws(ConfigurationError) -> Issuer? {
    let text: String
    if let own = try string(.issuer), try url(.issuer) != nil {
      guard !own.contains("?") else { throw error(.issuer, "cannot be \"\(own)\": it has a query") }
      text = own
    } else {
      if let preset, case .ownIssuer(let example) = preset.place {
        throw error("lacks \"issuer\", which provider \"\(preset.name)\" needs, like \"\(example)\"")
      }
      guard let known = preset?.issuer else { return nil }
      text = known
    }
    do {
      return try Issuer(text)
    } catch {
      throw self.error(.issuer, "cannot be \"\(text)\": \(error)")
    }
  }

  fileprivate func endpoints(
    token: HTTPURL, _ preset: ProviderPreset?
  ) throws(ConfigurationError) -> ProviderEndpoints {
    let known = preset?.endpoints
    return ProviderEndpoints(
      token: token, authorization: try url(.authorizationEndpoint) ?? known?.authorization,
      deviceAuthorization: try url(.deviceAuthorizationEndpoint) ?? known?.deviceAuthorization,
      revocation: try url(.revocationEndpoint) ?? known?.revocation,
      userInfo: try url(.userInfoEndpoint) ?? known?.userInfo)
  }

  /// RFC 6749, section 3.3.
  fileprivate func scopes() throws(ConfigurationError) -> [String] {
    let scopes = try strings(.scopes)
    for scope in scopes where !scope.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
      throw error(.scopes, "cannot have \"\(scope)\": each scope is an element of its own, without spaces and quotes")
    }
    return scopes
  }

  fileprivate func fieldName(_ key: ProviderKey) throws(ConfigurationError) -> String? {
    guard let name = try string(key) else { return nil }
    guard name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
      throw error(key, "cannot be \"\(name)\": there is nothing between two dots, or before or after one")
    }
    return name
  }

  /// The fields of OAuth itself are refused, since Hearth sets them, and scopes have a key of their own.
  fileprivate func tokenParameters() throws(ConfigurationError) -> [String: String] {
    var own: Set = [
      "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope",
      "code", "code_verifier", "device_code", "redirect_uri", "username", "password",
    ]
    if let field = try string(.refreshTokenField)?.split(separator: ".").first { own.insert(String(field)) }
    return try fields(.tokenParameters, except: own)
  }

  fileprivate func authorizationParameters() throws(ConfigurationError) -> [String: String] {
    try fields(
      .authorizationParameters,
      except: [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "request", "request_uri",
      ])
  }
}
