package import HearthCore

/// What an account's configuration says about its provider.
package struct ProviderConfiguration: Hashable, Sendable {
  package var kind: Kind
  /// The name of the preset (`provider`), if the account has one.
  package var preset: String?
  /// The user's name, if the provider does not report one.
  package var subject: String?
  /// How long an access token lives if the response does not say.
  package var defaultLifetime: Duration?
  /// The token that Hearth sends to APIs.
  package var bearer = BearerKind.accessToken
  /// Error codes of this provider that end a session, in addition to the standard ones.
  package var finalErrors: Set<String> = []
  /// What this provider's errors mean if they differ from the standard. The first rule that fits counts.
  package var responseRules: [ResponseRule] = []
  /// Whether each refresh names the granted scopes again (RFC 6749, section 6).
  package var sendsScopeOnRefresh = true
  /// Whether a revocation ends only that grant and no other of the same user.
  package var revokesOneGrant = false
  /// The field of the UserInfo response that names the user. Dots mean nested objects.
  package var userInfoSubjectField = "sub"
  /// Extra fields of every token request, by name.
  package var tokenParameters: [String: String] = [:]
  /// Extra fields of the authorization request, by name.
  package var authorizationParameters: [String: String] = [:]
  package var signIn = SignInSettings()
  package var route = HTTPRoute()

  /// Returns true if both configurations have the same issuer and client, so that a grant of one is valid for the
  /// other.
  package func sharesGrants(with other: ProviderConfiguration) -> Bool {
    kind.type == other.kind.type && kind.client == other.kind.client && defaultIssuer.text == other.defaultIssuer.text
  }

  /// What the session needs to know about its provider.
  package func complete(_ settings: inout SessionSettings) {
    settings.renewsWithoutRefreshToken = kind.type == .clientCredentials
    settings.bearer = bearer
    settings.issuer = defaultIssuer.text
    settings.configuredSubject = subject.map(defaultIssuer.subject)
    settings.binding = binding
  }
}

extension ProviderConfiguration {
  /// Reads an account's table. The keys of the account win over its preset. `proxies` come from the environment.
  package init(reading table: TableReader<ProviderKey>, proxies: ProxyEnvironment) throws(ConfigurationError) {
    let preset = try ProviderPreset(reading: table)
    guard let type = try table.choice(.type, as: AccountType.self) ?? preset?.accountType else {
      throw table.error("lacks \"type\"")
    }
    for key in ProviderKey.allCases where table.has(key) && !key.types.contains(type) {
      throw table.error(key, "does not apply to an account of type \"\(type.rawValue)\"")
    }
    if let preset, !preset.suits(type) {
      throw table.error(.provider, "cannot be \"\(preset.name)\" for an account of type \"\(type.rawValue)\"")
    }
    kind = try Kind(reading: table, of: type, preset)
    bearer = try table.choice(.bearer, as: BearerKind.self) ?? (type == .firebase ? .idToken : .accessToken)
    subject = try table.string(.subject)
    defaultLifetime = try table.duration(.defaultLifetime)
    tokenParameters = try table.tokenParameters()
    authorizationParameters = try table.authorizationParameters()
    signIn = try SignInSettings(reading: table, preset)
    finalErrors = Set(try table.strings(.finalErrors))
    route = try HTTPRoute(
      reading: table, usesMutualTLS: kind.oauth?.client.authentication == .tls, proxies: proxies)
    if let preset { apply(preset) }
    try requireTLS(for: table)
  }

  /// Requires TLS for the settings that affect only TLS.
  private func requireTLS(for table: TableReader<ProviderKey>) throws(ConfigurationError) {
    guard binding.origin.scheme != "https" else { return }
    if !(try table.origins(.apiOrigins)).contains(where: { $0.scheme == "https" }) {
      for key in [ProviderKey.caFile, .certificatePins] where table.has(key) {
        throw table.error(key, "has no effect if every address is http")
      }
    }
    if table.has(.clientCertificateFile) {
      throw table.error(.clientCertificateFile, "has no effect if the provider's address is http")
    }
  }
}

extension APISettings {
  /// Reads the settings about the APIs that the account's tokens are for.
  package init(reading table: TableReader<ProviderKey>) throws(ConfigurationError) {
    self.init(
      origins: Set(try table.origins(.apiOrigins)), expect: try table.choice(.expect, as: ExpectedContent.self),
      overrides: try DeliveryOverrides(reading: table.tables(.delivery)))
  }
}
