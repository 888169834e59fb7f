import HearthCore
import HearthOAuth

extension TableReader<AccountConfiguration.Key> {
  func connection() throws(ConfigurationError) -> AccountConfiguration.Connection {
    AccountConfiguration.Connection(caFile: try path(.caFile), pins: try pins(), proxy: try proxy())
  }

  private func pins() throws(ConfigurationError) -> Set<CertificatePin> {
    var pins: Set<CertificatePin> = []
    for text in try strings(.certificatePins) {
      guard let pin = CertificatePin(text) else {
        throw error(
          .certificatePins,
          "cannot have \"\(text)\": a pin is sha256/ and the Base64 of the 32 bytes of a public key's hash")
      }
      pins.insert(pin)
    }
    return pins
  }

  private func proxy() throws(ConfigurationError) -> ProxyChoice? {
    guard let text = try string(.proxy) else { return nil }
    if text == "none" { return .direct }
    do {
      return .named(try Proxy(text))
    } catch {
      throw self.error(.proxy, "cannot be \"\(text.withoutUserInformation)\": \(error)")
    }
  }

  /// OAuth's own fields are Hearth's to say, and scopes have a key of their own.
  func tokenParameters() throws(ConfigurationError) -> [String: String] {
    var own: Set = [
      "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope",
      "code", "code_verifier", "device_code", "redirect_uri", "username", "password",
    ]
    if let field = try string(.refreshTokenField)?.split(separator: ".").first { own.insert(String(field)) }
    return try fields(.tokenParameters, except: own)
  }

  func authorizationParameters(besides preset: ProviderPreset?) throws(ConfigurationError) -> [String: String] {
    let own = try fields(
      .authorizationParameters,
      except: [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "request", "request_uri",
      ])
    return own.merging(preset?.authorizationParameters ?? [:]) { own, _ in own }
  }
}

extension AccountConfiguration {
  /// What concerns TLS alone needs an address with TLS.
  func requireTLS(in table: TableReader<Key>) throws(ConfigurationError) {
    if !provider.isAskedWithTLS, !apiOrigins.contains(where: { $0.scheme == "https" }) {
      for key in [Key.caFile, .certificatePins] where table.has(key) {
        throw table.error(key, "means nothing where every address is http")
      }
    }
    if table.has(.clientCertificateFile), !provider.isAskedWithTLS {
      throw table.error(.clientCertificateFile, "means nothing where the provider's address is http")
    }
  }
}

extension AccountConfiguration.Provider {
  fileprivate var isAskedWithTLS: Bool {
    switch self {
    case .oidc(let issuer, _), .clientCredentials(.issuer(let issuer), _): issuer.lowercased().hasPrefix("https:")
    case .oauth2(let endpoints, _), .clientCredentials(.endpoints(let endpoints), _):
      endpoints.token.origin.scheme == "https"
    case .json(let backend): backend.refreshURL.origin.scheme == "https"
    case .firebase(_, let endpoint): endpoint.map { $0.origin.scheme == "https" } ?? true
    }
  }
}
