import HearthCore
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
  }

  enum Kind: String, CaseIterable {
    case oidc, oauth2, firebase, json
    case clientCredentials = "client-credentials"

    /// The keys that only some types know.
    private static let particular: Set<Key> = [
      .issuer, .tokenEndpoint, .authorizationEndpoint, .deviceAuthorizationEndpoint, .revocationEndpoint,
      .userInfoEndpoint, .refreshURL, .loginURL, .refreshTokenField, .accessTokenField, .expiresInField, .apiKey,
    ]

    func takes(_ key: Key) -> Bool {
      guard Self.particular.contains(key) else { return true }
      return switch self {
      case .oidc: key == .issuer
      case .oauth2:
        [
          .tokenEndpoint, .authorizationEndpoint, .deviceAuthorizationEndpoint, .revocationEndpoint, .userInfoEndpoint,
        ].contains(key)
      case .firebase: [.apiKey, .tokenEndpoint].contains(key)
      case .json: [.refreshURL, .loginURL, .refreshTokenField, .accessTokenField, .expiresInField].contains(key)
      case .clientCredentials: [.issuer, .tokenEndpoint, .revocationEndpoint, .userInfoEndpoint].contains(key)
      }
    }
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
    guard let kind = try table.choice(.type, as: Kind.self) else { throw table.error("lacks \"type\"") }
    for key in Key.allCases where table.has(key) && !kind.takes(key) {
      throw table.error(key, "means nothing for an account of type \"\(kind.rawValue)\"")
    }
    self.init(
      name: name,
      provider: try table.provider(kind),
      apiOrigins: try table.origins(.apiOrigins),
      credentialFile: try table.path(.credentialFile),
      protection: try Self.protection(table),
      formerKeyFile: try Self.formerKeyFile(table),
      lockOn: try table.lockTriggers(),
      bearer: try table.choice(.bearer, as: BearerKind.self) ?? (kind == .firebase ? .idToken : .accessToken),
      subject: try table.string(.subject),
      defaultLifetime: try table.duration(.defaultLifetime))
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
  fileprivate typealias Account = AccountConfiguration

  fileprivate func provider(_ kind: Account.Kind) throws(ConfigurationError) -> Account.Provider {
    let (id, secretFile, scopes) = (try string(.clientID), try path(.clientSecretFile), try scopes())
    func client() throws(ConfigurationError) -> Account.Client {
      Account.Client(id: try required(id, .clientID, for: kind), secretFile: secretFile, scopes: scopes)
    }
    switch kind {
    case .oidc:
      return .oidc(issuer: try required(issuer(), .issuer, for: kind), try client())
    case .oauth2:
      return .oauth2(try endpoints(token: required(url(.tokenEndpoint), .tokenEndpoint, for: kind)), try client())
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
      return .clientCredentials(try authority(), try client())
    }
  }

  private func authority() throws(ConfigurationError) -> Account.Authority {
    let (issuer, token) = (try issuer(), try url(.tokenEndpoint))
    switch (issuer, token) {
    case (let issuer?, nil):
      for key in [Key.revocationEndpoint, .userInfoEndpoint] where has(key) {
        throw error(key, "means nothing beside \"issuer\", which tells the endpoints")
      }
      return .issuer(issuer)
    case (nil, let token?): return .endpoints(try endpoints(token: token))
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
  private func issuer() throws(ConfigurationError) -> String? {
    guard let text = try string(.issuer), try url(.issuer) != nil else { return nil }
    guard !text.contains("?") else { throw error(.issuer, "cannot be \"\(text)\": it has a query") }
    return text
  }

  private func endpoints(token: HTTPURL) throws(ConfigurationError) -> Account.Endpoints {
    Account.Endpoints(
      token: token, authorization: try url(.authorizationEndpoint),
      deviceAuthorization: try url(.deviceAuthorizationEndpoint), revocation: try url(.revocationEndpoint),
      userInfo: try url(.userInfoEndpoint))
  }

  /// RFC 6749, section 3.3.
  private func scopes() throws(ConfigurationError) -> [String] {
    let scopes = try strings(.scopes)
    for scope in scopes where !scope.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
      throw error(.scopes, "cannot have \"\(scope)\": each scope is an element of its own, without spaces and quotes")
    }
    return scopes
  }

  /// What would be taken and lock nothing is refused: a lock that somebody relies on and that never comes is worse.
  fileprivate func lockTriggers() throws(ConfigurationError) -> Set<Account.LockTrigger> {
    var triggers: Set<Account.LockTrigger> = []
    for text in try strings(.lockOn) {
      guard let trigger = Account.LockTrigger(rawValue: text) else {
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

  private func fieldName(_ key: Key) throws(ConfigurationError) -> String? {
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
