package import HearthCore

/// The part of an account's configuration that describes its provider.
package struct ProviderConfiguration: Hashable, Sendable {
  package var kind: Kind
  /// The name of the account's preset (`provider`), if the account uses one.
  package var preset: String?
  /// The user's ID from the configuration, for providers that do not report one.
  package var subject: String?
  /// The lifetime to assume if neither the response nor the access token contains one.
  package var defaultLifetime: Duration?
  /// The kind of token that Hearth sends to APIs.
  package var bearer = BearerKind.accessToken
  /// This provider's error codes that end a session, in addition to the standard codes.
  package var finalErrors: Set<String> = []
  /// Rules for this provider's nonstandard errors. The first matching rule applies.
  package var responseRules: [ResponseRule] = []
  /// Whether refresh requests repeat the granted scopes (RFC 6749, section 6).
  package var sendsScopeOnRefresh = true
  /// Whether the user's other grants stay valid when a token is revoked.
  package var revokesOneGrant = false
  /// The field of the UserInfo response that contains the user's ID. A dot separates nested objects.
  package var userInfoSubjectField = "sub"
  /// Additional fields for every token request, by name.
  package var tokenParameters: [String: String] = [:]
  /// Additional fields for the authorization request, by name.
  package var authorizationParameters: [String: String] = [:]
  package var signIn = SignInSettings()
  package var route = HTTPRoute()

  /// Returns whether both configurations have the same type, issuer and client, so that either can use the other's
  /// grants.
  package func sharesGrants(with other: ProviderConfiguration) -> Bool {
    kind.type == other.kind.type && kind.client == other.kind.client && defaultIssuer.text == other.defaultIssuer.text
  }

  /// Sets the session settings that depend on the provider.
  package func complete(_ settings: inout SessionSettings) {
    settings.renewsWithoutRefreshToken = kind.type == .clientCredentials
    settings.bearer = bearer
    settings.issuer = defaultIssuer.text
    settings.configuredSubject = subject.map(defaultIssuer.subject)
    settings.binding = binding
  }
}

extension ProviderConfiguration {
  /// Reads the configuration from an account's table. The account's keys override the preset's. `proxies` contains the
  /// proxies from the environment.
  package init(reading table: TableReader<ProviderKey>, proxies: ProxyEnvironment) throws {
    let preset = try ProviderPreset(reading: table)
    guard let type = try table.choice(.type, as: AccountType.self) ?? preset?.accountType else {
      throw table.error("lacks \"type\" or \"provider\"")
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

  /// Throws if the account sets a TLS option that none of its connections would use.
  private func requireTLS(for table: TableReader<ProviderKey>) throws {
    guard binding.origin.scheme != "https" else { return }
    if !(try table.origins(.apiOrigins)).contains(where: { $0.scheme == "https" }) {
      for key in [ProviderKey.caFile, .certificatePins] where table.has(key) {
        throw table.error(key, "has no effect, because the provider and all APIs use http")
      }
    }
    if table.has(.clientCertificateFile) {
      throw table.error(.clientCertificateFile, "has no effect, because the provider uses http")
    }
  }
}

extension APISettings {
  /// Reads the settings for the APIs that accept the account's tokens.
  package init(reading table: TableReader<ProviderKey>) throws {
    self.init(
      origins: Set(try table.origins(.apiOrigins)), expect: try table.choice(.expect, as: ExpectedContent.self),
      overrides: try DeliveryOverrides(reading: table.tables(.delivery)))
  }
}
