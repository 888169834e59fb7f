import HearthCore

extension TableReader<ProviderKey> {
  func required<Value>(_ value: Value?, _ key: ProviderKey, for type: AccountType) throws -> Value {
    guard let value else { throw error("lacks \"\(key.rawValue)\", which type \"\(type.rawValue)\" needs") }
    return value
  }

  func authority(_ preset: ProviderPreset?) throws -> ProviderConfiguration.Authority {
    var (issuer, token) = (try issuer(nil), try url(.tokenEndpoint))
    if issuer == nil, token == nil, let preset {
      (issuer, token) = (try self.issuer(preset), preset.endpoints?.token)
    }
    switch (issuer, token) {
    case (let issuer?, nil):
      for key in [ProviderKey.revocationEndpoint, .userInfoEndpoint] where has(key) {
        throw error(key, "has no effect, because discovery provides the endpoints")
      }
      return .discovered(issuer)
    case (nil, let token?): return .named(try endpoints(token: token, preset))
    case (nil, nil):
      throw error("lacks \"token_endpoint\" or \"issuer\"; type \"client-credentials\" needs one of them")
    case (.some, .some): throw error("has both \"issuer\" and \"token_endpoint\"; remove one of them")
    }
  }

  func issuer(_ preset: ProviderPreset?) throws -> Issuer? {
    let own = try url(.issuer) { text in
      _ = try HTTPURL(text)
      guard !text.contains("?") else { throw Reason("it has a query") }
      return try Issuer(text)
    }
    if let own { return own }
    if let preset, case .ownIssuer(let example) = preset.place {
      throw error("lacks \"issuer\", which provider \"\(preset.name)\" needs, for example \"\(example)\"")
    }
    return try preset?.issuer.map { try Issuer($0) }
  }

  func endpoints(token: HTTPURL, _ preset: ProviderPreset?) throws -> ProviderEndpoints {
    let known = preset?.endpoints
    return ProviderEndpoints(
      token: token, authorization: try url(.authorizationEndpoint) ?? known?.authorization,
      deviceAuthorization: try url(.deviceAuthorizationEndpoint) ?? known?.deviceAuthorization,
      revocation: try url(.revocationEndpoint) ?? known?.revocation,
      userInfo: try url(.userInfoEndpoint) ?? known?.userInfo)
  }

  func scopes() throws -> [String] {
    let scopes = try strings(.scopes)
    for scope in scopes where !scope.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
      throw error(
        .scopes,
        "cannot contain \"\(scope)\": each scope must be a separate element of printable ASCII, without spaces, quotes or "
          + "backslashes")
    }
    return scopes
  }

  /// Reads `token_parameters`. Throws if they contain a field that Hearth sets itself, such as `scope`.
  func tokenParameters() throws -> [String: String] {
    var own: Set = [
      "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope",
      "code", "code_verifier", "device_code", "redirect_uri", "username", "password",
    ]
    if let field = try string(.refreshTokenField)?.split(separator: ".").first { own.insert(String(field)) }
    return try fields(.tokenParameters, except: own)
  }

  func authorizationParameters() throws -> [String: String] {
    try fields(
      .authorizationParameters,
      except: [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "request", "request_uri",
      ])
  }
}
