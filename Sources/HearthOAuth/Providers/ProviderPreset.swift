package import HearthCore

/// What is known of a provider beforehand: where it answers, and in what it differs from others.
///
/// The keys of an account win over its preset. A new provider gets an entry in `OpenIDProviders.swift` or
/// `OAuthProviders.swift`.
package struct ProviderPreset: Sendable {
  package enum Place: Sendable {
    /// The endpoints are discovered at this issuer (`oidc`).
    case issuer(String)
    /// Each customer has an issuer, which the account names (`oidc`).
    case ownIssuer(example: String)
    /// The endpoints are these (`oauth2`).
    case endpoints(ProviderEndpoints)
    /// The token endpoint is Google's own, or the emulator's that the account names (`firebase`).
    case firebase
  }

  package enum Rotation: Hashable, Sendable {
    /// Each refresh brings a new refresh token, and the old one ends.
    case always
    /// Each refresh may bring a new one, and the old one goes on for a while or for good.
    case lenient
    /// The refresh token stays as it is.
    case never
    /// As the provider's administrator has set it.
    case asConfigured
  }

  /// The value of the key `provider`.
  package let name: String
  package let place: Place
  package let rotation: Rotation
  /// How clients authenticate.
  package var clientAuthentication = ClientAuthentication.Method.auto
  /// A refresh names the scopes that were granted, and the `offlineScopes`. One that names none asks for those of the grant
  /// (RFC 6749, section 6): few providers need them named again, and some reject names that are for signing in only.
  package var sendsScopeOnRefresh = false
  /// A revocation ends the grant of the token that is named, and no other grant of the same user.
  package var revokesOneGrant = false
  /// Scopes without which there is no refresh token.
  package var offlineScopes: [String] = []
  /// Further fields of the authorization request, without which there is no refresh token.
  package var authorizationParameters: [String: String] = [:]
  /// Further fields of every token request, which the provider wants.
  package var tokenParameters: [String: String] = [:]
  /// Where the provider sends a browser back that signs in: an address of this machine, as the provider takes it for
  /// registration, or nil if it takes none.
  package var redirect: RedirectAddress? = RedirectAddress()
  /// The provider knows PKCE, or ignores it (RFC 7636).
  package var usesCodeChallenge = true
  package var deviceDialect = DeviceDialect.standard
  /// How long an access token lives if the response does not tell it.
  package var defaultLifetime: Duration?
  /// Error codes of its own that end a session.
  package var finalErrors: Set<String> = []
  /// What its errors mean if they differ from those of others.
  package var responseRules: [ResponseRule] = []
  /// The field of the UserInfo response that names the user.
  package var userInfoSubjectField = "sub"
  /// Where its APIs answer, for a new account that names none itself. Others of the provider's APIs may answer elsewhere.
  package var apiOrigins: [String] = []
  /// The domains of the mail addresses that it gives to everybody.
  package var mailDomains: [String] = []

  package static func named(_ name: String) -> ProviderPreset? { all.first { $0.name == name } }

  package static let all = (openIDProviders + oauthProviders + [firebase]).sorted { $0.name < $1.name }

  /// Sorted.
  package static var names: [String] { all.map(\.name) }

  /// https://firebase.google.com/docs/reference/rest/auth#section-refresh-token
  ///
  /// Its rules are for every account of the type `firebase`, with or without the key `provider`.
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
  /// For every account of an OAuth provider, with or without a preset.
  static let rulesOfAll = [
    // Salesforce says so to the second of two requests with one token, such as our own repeat of one whose reply was lost
    // (https://github.com/segmentio/action-destinations/pull/2300).
    ResponseRule(codes: ["invalid_grant"], phrase: "request is already being processed", means: .unavailable)
  ]

  /// Reads the key `provider`. Returns nil if it is missing.
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

  /// Whether an account of another type may have the preset, since its provider is asked in the same way.
  func suits(_ type: AccountType) -> Bool { type == accountType || type.isOAuth && accountType.isOAuth }

  /// The issuer that all customers have, if it is the same.
  package var issuer: String? {
    if case .issuer(let text) = place { text } else { nil }
  }

  /// An issuer such as each customer has of his own, if that is so.
  package var issuerExample: String? {
    if case .ownIssuer(let example) = place { example } else { nil }
  }

  /// The keys that an account with this preset has to have.
  package var requiredKeys: [ProviderKey] {
    let client: [ProviderKey] =
      clientAuthentication == .apple ? [.clientID, .clientKeyFile, .clientKeyID, .teamID] : [.clientID]
    return switch place {
    case .issuer, .endpoints: client
    case .ownIssuer: [.issuer] + client
    case .firebase: [.apiKey]
    }
  }

  /// The keys that its provider asks most clients for.
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
  /// Adds what the preset knows. The account's own lifetime and parameters win.
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
  /// For providers that take no address of the loopback interface for registration, but its name.
  static let localhost = RedirectAddress(host: "localhost")
}

extension ProviderPreset.Place {
  /// Endpoints as texts, which a test reads.
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
