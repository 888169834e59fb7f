package import HearthCore

/// What Hearth knows about a provider in advance: its endpoints, and how it differs from others.
///
/// An account's own keys win over its preset. To add a provider, add an entry in `OpenIDProviders.swift` or
/// `OAuthProviders.swift`.
package struct ProviderPreset: Sendable {
  package enum Place: Sendable {
    /// The endpoints are discovered at this issuer (`oidc`).
    case issuer(String)
    /// Each customer has an issuer, which the account sets (`oidc`).
    case ownIssuer(example: String)
    /// The endpoints are fixed (`oauth2`).
    case endpoints(ProviderEndpoints)
    /// The token endpoint is Google's own, or that of an emulator that the account names (`firebase`).
    case firebase
  }

  package enum Rotation: Hashable, Sendable {
    /// Each refresh returns a new refresh token, and the old one ends.
    case always
    /// Each refresh may return a new one, and the old one stays valid for a while or for good.
    case lenient
    /// The refresh token never changes.
    case never
    /// The provider's administrator decides.
    case asConfigured
  }

  /// The value of the key `provider`.
  package let name: String
  package let place: Place
  package let rotation: Rotation
  /// How clients authenticate.
  package var clientAuthentication = ClientAuthentication.Method.auto
  /// Whether a refresh names the granted scopes and the `offlineScopes`. One that names none asks for those of the
  /// grant (RFC 6749, section 6): few providers need them named again, and some reject scopes that are only for
  /// sign-in.
  package var sendsScopeOnRefresh = false
  /// Whether a revocation ends only the grant of that token and no other of the same user.
  package var revokesOneGrant = false
  /// Scopes without which the provider gives no refresh token.
  package var offlineScopes: [String] = []
  /// Extra fields of the authorization request without which the provider gives no refresh token.
  package var authorizationParameters: [String: String] = [:]
  /// Extra fields that the provider requires in every token request.
  package var tokenParameters: [String: String] = [:]
  /// Where the provider sends the browser after a sign-in: an address on this machine, in the form in which the
  /// provider registers it, or `nil` if it accepts none.
  package var redirect: RedirectAddress? = RedirectAddress()
  /// Whether authorization requests use PKCE, which the provider supports or ignores (RFC 7636).
  package var usesCodeChallenge = true
  package var deviceDialect = DeviceDialect.standard
  /// How long an access token lives if the response does not say.
  package var defaultLifetime: Duration?
  /// The provider's own error codes that end a session.
  package var finalErrors: Set<String> = []
  /// What the provider's errors mean if they differ from the standard.
  package var responseRules: [ResponseRule] = []
  /// The field of the UserInfo response that names the user.
  package var userInfoSubjectField = "sub"
  /// The origins of its APIs, for a new account that sets none itself. Some of the provider's APIs may have other
  /// origins.
  package var apiOrigins: [String] = []
  /// The domains of the mail addresses that it gives to the public.
  package var mailDomains: [String] = []

  package static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

  package static let all = (openIDProviders + oauthProviders + [firebase]).sorted { $0.name < $1.name }

  /// The names of all presets, sorted.
  package static var names: [String] { all.map(\.name) }

  /// https://firebase.google.com/docs/reference/rest/auth#section-refresh-token
  ///
  /// Its rules apply to every account of the type `firebase`, with or without the key `provider`.
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
  /// Rules for every account of an OAuth provider, with or without a preset.
  static let rulesOfAll = [
    // Salesforce gives this answer to the second of two requests with one token, such as Hearth's retry of a request
    // whose answer was lost (https://github.com/segmentio/action-destinations/pull/2300).
    ResponseRule(codes: ["invalid_grant"], phrase: "request is already being processed", means: .unavailable)
  ]

  /// Reads the key `provider`. Returns `nil` if it is missing.
  init?(reading table: TableReader<ProviderKey>) throws(ConfigurationError) {
    guard let name = try table.string(.provider) else { return nil }
    guard let preset = Self.named(name) else { throw table.unknown(name, for: .provider, allowed: Self.names) }
    self = preset
  }

  /// The type of account that the preset is for.
  package var accountType: AccountType {
    switch place {
    case .issuer, .ownIssuer: .oidc
    case .endpoints: .oauth2
    case .firebase: .firebase
    }
  }

  /// Whether an account of this type may use the preset: all OAuth types ask a provider in the same way.
  func suits(_ type: AccountType) -> Bool { type == accountType || type.isOAuth && accountType.isOAuth }

  /// The issuer, if all customers share one.
  package var issuer: String? {
    if case .issuer(let text) = place { text } else { nil }
  }

  /// An example of an issuer, if each customer has one.
  package var issuerExample: String? {
    if case .ownIssuer(let example) = place { example } else { nil }
  }

  /// The keys that an account with this preset must have.
  package var requiredKeys: [ProviderKey] {
    let client: [ProviderKey] =
      clientAuthentication == .apple ? [.clientID, .clientKeyFile, .clientKeyID, .teamID] : [.clientID]
    return switch place {
    case .issuer, .endpoints: client
    case .ownIssuer: [.issuer] + client
    case .firebase: [.apiKey]
    }
  }

  /// The keys that most clients of the provider need.
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
  /// Applies the preset. The account's own lifetime and parameters win.
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
  /// For providers that register `localhost` but no loopback IP address.
  static let localhost = RedirectAddress(host: "localhost")
}

extension ProviderPreset.Place {
  /// Builds the endpoints from URL strings. A test checks that every preset's URLs parse.
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
