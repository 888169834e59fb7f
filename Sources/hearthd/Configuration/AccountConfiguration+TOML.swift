import HearthCore
import HearthOAuth
import TOMLKit

extension AccountConfiguration {
  enum Key: String, CaseIterable {
    case type, issuer, scopes, protection, bearer, subject
    case clientID = "client_id"
    case clientSecretFile = "client_secret_file"
    case apiOrigins = "api_origins"
    case credentialFile = "credential_file"
    case keyFile = "key_file"
    case lockOn = "lock_on"
    case defaultLifetime = "default_lifetime"
    case tokenEndpoint = "token_endpoint"
    case authorizationEndpoint = "authorization_endpoint"
    case deviceAuthorizationEndpoint = "device_authorization_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case userInfoEndpoint = "userinfo_endpoint"
    case refreshURL = "refresh_url"
    case loginURL = "login_url"
    case refreshTokenField = "refresh_token_field"
    case accessTokenField = "access_token_field"
    case expiresInField = "expires_in_field"
    case apiKey = "api_key"
    case clientAuth = "client_auth"
    case clientKeyFile = "client_key_file"
    case clientKeyID = "client_key_id"
    case clientCertificateFile = "client_certificate_file"
    case clientAssertionAudience = "client_assertion_audience"
    case teamID = "team_id"
    case tokenParameters = "token_parameters"
    case authorizationParameters = "authorization_parameters"
    case finalErrors = "final_errors"
    case caFile = "ca_file"
    case certificatePins = "certificate_pins"
    case proxy, provider

    /// What an OAuth client proves itself with, besides its secret.
    static let ofClientProof: Set<Key> = [
      .clientAuth, .clientKeyFile, .clientKeyID, .clientCertificateFile, .clientAssertionAudience, .teamID,
    ]
  }

  enum Kind: String, CaseIterable {
    case oidc, oauth2, firebase, json
    case clientCredentials = "client-credentials"

    /// The keys that only some types know.
    private static let particular: Set<Key> = Key.ofClientProof.union([
      .issuer, .tokenEndpoint, .authorizationEndpoint, .deviceAuthorizationEndpoint, .revocationEndpoint,
      .userInfoEndpoint, .refreshURL, .loginURL, .refreshTokenField, .accessTokenField, .expiresInField, .apiKey,
      .authorizationParameters, .finalErrors,
    ])

    private var own: Set<Key> {
      switch self {
      case .oidc: Key.ofClientProof.union([.issuer, .authorizationParameters, .finalErrors])
      case .oauth2:
        Key.ofClientProof.union([
          .tokenEndpoint, .authorizationEndpoint, .deviceAuthorizationEndpoint, .revocationEndpoint, .userInfoEndpoint,
          .authorizationParameters, .finalErrors,
        ])
      case .firebase: [.apiKey, .tokenEndpoint, .finalErrors]
      case .json: [.refreshURL, .loginURL, .refreshTokenField, .accessTokenField, .expiresInField, .finalErrors]
      // What its provider refuses is the client, and ends no session.
      case .clientCredentials:
        Key.ofClientProof.union([.issuer, .tokenEndpoint, .revocationEndpoint, .userInfoEndpoint])
      }
    }

    /// A person signs in to it in a browser.
    fileprivate var signsIn: Bool {
      switch self {
      case .oidc, .oauth2: true
      case .firebase, .json, .clientCredentials: false
      }
    }

    func takes(_ key: Key) -> Bool { !Self.particular.contains(key) || own.contains(key) }
  }

  private enum ProtectionKind: String, CaseIterable {
    case none, passphrase
    case keyFile = "key-file"
    case secretService = "secret-service"
  }

  /// Reads one `[accounts.NAME]`.
  init(
    _ name: AccountName, _ value: (any TOMLValueConvertible)?, of source: ConfigurationSource
  ) throws(ConfigurationError) {
    let table = try TableReader<Key>(value, at: ["accounts", name.description], of: source)
    let preset = try table.preset()
    guard let kind = try table.choice(.type, as: Kind.self) ?? preset.flatMap({ Kind(rawValue: $0.accountType) }) else {
      throw table.error("lacks \"type\"")
    }
    for key in Key.allCases where table.has(key) && !kind.takes(key) {
      throw table.error(key, "means nothing for an account of type \"\(kind.rawValue)\"")
    }
    if let preset, !preset.suits(kind) {
      throw table.error(.provider, "cannot be \"\(preset.name)\" for an account of type \"\(kind.rawValue)\"")
    }
    self.init(
      name: name,
      provider: try table.provider(kind, preset),
      preset: preset?.name,
      apiOrigins: try table.origins(.apiOrigins),
      credentialFile: try table.path(.credentialFile),
      protection: try Self.protection(table),
      formerKeyFile: try Self.formerKeyFile(table),
      lockOn: try table.lockTriggers(),
      bearer: try table.choice(.bearer, as: BearerKind.self) ?? (kind == .firebase ? .idToken : .accessToken),
      subject: try table.string(.subject),
      defaultLifetime: try table.duration(.defaultLifetime),
      tokenParameters: try table.tokenParameters(),
      authorizationParameters: try table.authorizationParameters(besides: kind.signsIn ? preset : nil),
      finalErrors: try table.strings(.finalErrors),
      connection: try table.connection())
    try requireTLS(in: table)
  }

  private static func protection(_ table: TableReader<Key>) throws(ConfigurationError) -> Protection {
    let kind = try table.choice(.protection, as: ProtectionKind.self) ?? .none
    let keyFile = try table.path(.keyFile)
    switch (kind, keyFile) {
    case (.keyFile, let keyFile?): return .keyFile(keyFile)
    case (.keyFile, nil): throw table.error("lacks \"key_file\", which protection \"key-file\" needs")
    case (.none, _): return .none
    case (.passphrase, _): return .passphrase
    case (.secretService, _): return .secretService
    }
  }

  /// A key file that stays named when the protection is another one, so that what it sealed can still be opened.
  private static func formerKeyFile(_ table: TableReader<Key>) throws(ConfigurationError) -> String? {
    guard let keyFile = try table.path(.keyFile) else { return nil }
    // Alone it would look as if it sealed.
    guard let kind = try table.choice(.protection, as: ProtectionKind.self) else {
      throw table.error(.keyFile, "means nothing without protection = \"key-file\"")
    }
    return kind == .keyFile ? nil : keyFile
  }
}

extension TableReader<AccountConfiguration.Key> {
  /// RFC 6749, section 3.3.
  func scopes() throws(ConfigurationError) -> [String] {
    let scopes = try strings(.scopes)
    for scope in scopes where !scope.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
      throw error(.scopes, "cannot have \"\(scope)\": each scope is an element of its own, without spaces and quotes")
    }
    return scopes
  }

  /// What would be taken and lock nothing is refused: a lock that somebody relies on and that never comes is worse.
  fileprivate func lockTriggers() throws(ConfigurationError) -> Set<AccountConfiguration.LockTrigger> {
    var triggers: Set<AccountConfiguration.LockTrigger> = []
    for text in try strings(.lockOn) {
      guard let trigger = AccountConfiguration.LockTrigger(rawValue: text) else {
        let isPlanned = ["screen-lock", "suspend"].contains(text)
        throw error(
          .lockOn,
          isPlanned
            ? "cannot have \"\(text)\": it is not supported yet, and would lock nothing; what works is \"unreadable\""
            : "cannot have \"\(text)\": what works is \"unreadable\"")
      }
      triggers.insert(trigger)
    }
    return triggers
  }

  func fieldName(_ key: Key) throws(ConfigurationError) -> String? {
    guard let name = try string(key) else { return nil }
    guard name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
      throw error(key, "cannot be \"\(name)\": there is nothing between two dots, or before or after one")
    }
    return name
  }

  fileprivate func origins(_ key: Key) throws(ConfigurationError) -> [Origin] {
    var origins: [Origin] = []
    for text in try strings(key) {
      let url: HTTPURL
      do {
        url = try HTTPURL(text)
      } catch {
        throw self.error(key, "cannot have \"\(text.withoutUserInformation)\": \(error)")
      }
      guard !text.dropFirst("https://".count).contains(where: { $0 == "/" || $0 == "?" }) else {
        throw error(
          key,
          "cannot have \"\(text.withoutUserInformation)\": an origin is scheme://host or scheme://host:port, without a path"
        )
      }
      origins.append(url.origin)
    }
    return origins
  }
}
