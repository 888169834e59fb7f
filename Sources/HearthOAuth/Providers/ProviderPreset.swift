package import HearthCore

/// The built-in settings for a provider: its endpoints, and its differences from other providers.
///
/// An account's keys override its preset. To add a provider, add an entry to `OpenIDProviders.swift` or
/// `OAuthProviders.swift`.
package struct ProviderPreset: Sendable {
  package enum Place: Sendable {
    /// Accounts that do not set `issuer` use this one, whose endpoints are discovered (`oidc`).
    case issuer(String)
    /// Each customer has its own issuer, which users must configure (`oidc`).
    case ownIssuer(example: String)
    /// The endpoints are fixed (`oauth2`).
    case endpoints(ProviderEndpoints)
    /// The token endpoint is Google's, or an emulator's if the account configures one (`firebase`).
    case firebase
  }

  package enum Rotation: Hashable, Sendable {
    /// Each refresh returns a new refresh token and invalidates the old one.
    case always
    /// A refresh can return a new refresh token. The old one stays valid, at least for a while.
    case lenient
    /// The refresh token never changes.
    case never
    /// Depends on the configuration of the provider or of the client.
    case asConfigured
  }

  /// The value of the key `provider` that selects this preset.
  package let name: String
  package let place: Place
  package let rotation: Rotation
  package var clientAuthentication = ClientAuthentication.Method.auto
  /// Whether refresh requests list the granted scopes and the `offlineScopes`. Without a list, a refresh requests the
  /// grant's scopes (RFC 6749, section 6). Few providers need the list, and some reject scopes that are valid only at
  /// sign-in.
  package var sendsScopeOnRefresh = false
  /// Whether the user's other grants stay valid when a token is revoked.
  package var revokesOneGrant = false
  /// Scopes without which the provider does not issue a refresh token.
  package var offlineScopes: [String] = []
  /// Additional fields for authorization requests. Without them, some providers do not issue a refresh token.
  package var authorizationParameters: [String: String] = [:]
  /// Additional fields that the provider requires in every token request.
  package var tokenParameters: [String: String] = [:]
  /// The loopback address to which the provider redirects the browser, in the form registered with the provider, or
  /// `nil` if the provider does not accept a loopback address.
  package var redirect: RedirectAddress? = RedirectAddress()
  /// Whether authorization requests use PKCE (RFC 7636). Providers that do not support PKCE usually ignore it.
  package var usesCodeChallenge = true
  package var deviceDialect = DeviceDialect.standard
  /// The lifetime to assume if neither the response nor the access token contains one.
  package var defaultLifetime: Duration?
  /// The provider's nonstandard error codes that end a session.
  package var finalErrors: Set<String> = []
  /// Rules for the provider's nonstandard errors.
  package var responseRules: [ResponseRule] = []
  /// The field of the UserInfo response that contains the user's ID.
  package var userInfoSubjectField = "sub"
  /// API origins for new accounts that set neither API origins nor an issuer. The provider may have APIs at other
  /// origins too.
  package var apiOrigins: [String] = []
  /// The domains of the provider's public email service.
  package var mailDomains: [String] = []

  package static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

  package static let all = (openIDProviders + oauthProviders + [firebase]).sorted { $0.name < $1.name }

  package static var names: [String] { all.map(\.name) }

  /// https://firebase.google.com/docs/reference/rest/auth#section-refresh-token
  ///
  /// The rules apply to all accounts of type `firebase`, with or without the key `provider`.
  static let firebase = Self(
    name: "firebase", place: .firebase, rotation: .never, clientAuthentication: .none,
    responseRules: [
      ResponseRule(
        codes: [
          "API_KEY_HTTP_REFERRER_BLOCKED", "API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_SERVICE_BLOCKED",
          "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED", "SERVICE_DISABLED", "PROJECT_NUMBER_MISMATCH",
          "MISSING_REFRESH_TOKEN",
        ], means: .misconfigured),
      ResponseRule(
        codes: ["TOO_MANY_ATTEMPTS_TRY_LATER", "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"], means: .unavailable),
    ])
}

extension ProviderPreset {
  /// Rules for all accounts of type `oidc` or `oauth2`, with or without a preset.
  static let rulesOfAll = [
    // Salesforce sends this error for the second of two simultaneous requests with the same token
    // (https://github.com/segmentio/action-destinations/pull/2300). If a response is lost, Hearth's retry can be that
    // second request, so the error does not end the session.
    ResponseRule(codes: ["invalid_grant"], phrase: "request is already being processed", means: .unavailable)
  ]

  /// Reads the key `provider`. Returns `nil` if the key is missing.
  init?(reading table: TableReader<ProviderKey>) throws {
    guard let name = try table.string(.provider) else { return nil }
    guard let preset = Self.named(name) else { throw table.unknown(name, for: .provider, allowed: Self.names) }
    self = preset
  }

  package var accountType: AccountType {
    switch place {
    case .issuer, .ownIssuer: .oidc
    case .endpoints: .oauth2
    case .firebase: .firebase
    }
  }

  /// Returns whether accounts of this type can use the preset. Every OAuth type can use every OAuth preset.
  func suits(_ type: AccountType) -> Bool { type == accountType || type.isOAuth && accountType.isOAuth }

  /// The issuer for accounts that do not set one, if the preset has one.
  package var issuer: String? {
    if case .issuer(let text) = place { text } else { nil }
  }

  /// An example of an issuer, if each customer has a different one.
  package var issuerExample: String? {
    if case .ownIssuer(let example) = place { example } else { nil }
  }

  /// The keys that accounts with this preset must set. For Apple, `client_secret_file` can replace all keys but the
  /// first.
  package var requiredKeys: [ProviderKey] {
    let client: [ProviderKey] =
      clientAuthentication == .apple ? [.clientID, .clientKeyFile, .clientKeyID, .teamID] : [.clientID]
    return switch place {
    case .issuer, .endpoints: client
    case .ownIssuer: [.issuer] + client
    case .firebase: [.apiKey]
    }
  }

  /// The keys that most of the provider's clients need.
  package var usualKeys: [ProviderKey] {
    switch clientAuthentication {
    case .basic, .post: [.clientSecretFile]
    case .auto, .none, .privateKeyJWT, .tls, .apple: []
    }
  }

  package var endpoints: ProviderEndpoints? {
    if case .endpoints(let endpoints) = place { endpoints } else { nil }
  }
}

extension ProviderConfiguration {
  /// Applies the preset. The account's lifetime and parameters take precedence over the preset's.
  mutating func apply(_ preset: ProviderPreset) {
    self.preset = preset.name
    authorizationParameters.merge(preset.authorizationParameters) { own, _ in own }
    tokenParameters.merge(preset.tokenParameters) { own, _ in own }
    defaultLifetime = defaultLifetime ?? preset.defaultLifetime
    finalErrors.formUnion(preset.finalErrors)
    responseRules += preset.responseRules
    sendsScopeOnRefresh = preset.sendsScopeOnRefresh
    revokesOneGrant = preset.revokesOneGrant
    signIn.apply(preset)
    userInfoSubjectField = preset.userInfoSubjectField
  }
}

extension RedirectAddress {
  /// The redirect address for providers that allow `localhost` but not a loopback IP address.
  static let localhost = RedirectAddress(host: "localhost")
}

extension ProviderPreset.Place {
  /// Creates the endpoints from URL strings. A test checks that the URLs of all presets are valid.
  static func endpoints(
    token: String, authorization: String, device: String? = nil, revocation: String? = nil, userInfo: String? = nil
  ) -> Self {
    .endpoints(
      ProviderEndpoints(
        token: HTTPURL(known: token), authorization: HTTPURL(known: authorization),
        deviceAuthorization: device.map(HTTPURL.init(known:)), revocation: revocation.map(HTTPURL.init(known:)),
        userInfo: userInfo.map(HTTPURL.init(known:))))
  }
}
