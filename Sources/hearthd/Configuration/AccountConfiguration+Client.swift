import HearthOAuth

extension AccountConfiguration {
  /// What `client_auth` may be.
  enum ClientAuth: String, CaseIterable {
    case auto, none, basic, post
    case privateKeyJWT = "private_key_jwt"
    case tls, apple

    fileprivate var needs: [Key] {
      switch self {
      case .auto, .none: []
      case .basic, .post: [.clientSecretFile]
      case .privateKeyJWT: [.clientKeyFile]
      case .tls: [.clientCertificateFile, .clientKeyFile]
      case .apple: [.clientKeyFile, .clientKeyID, .teamID]
      }
    }

    fileprivate var takes: Set<Key> {
      switch self {
      case .auto: [.clientSecretFile, .clientKeyFile, .clientKeyID, .clientAssertionAudience]
      case .privateKeyJWT: [.clientKeyFile, .clientKeyID, .clientCertificateFile, .clientAssertionAudience]
      case .none, .basic, .post, .tls, .apple: Set(needs)
      }
    }
  }
}

extension TableReader<AccountConfiguration.Key> {
  /// How the client shows who it is. `usual`: with the provider of the account's preset.
  func clientAuthentication(
    _ usual: ProviderPreset.ClientAuthentication?
  ) throws(ConfigurationError) -> AccountConfiguration.Client.Authentication {
    let named = try choice(.clientAuth, as: AccountConfiguration.ClientAuth.self)
    var kind = named ?? clientAuth(usual)
    if kind == .auto, has(.clientKeyFile) {
      if has(.clientCertificateFile) {
        throw error(
          .clientCertificateFile, "leaves open whether client_auth is to be \"tls\" or \"private_key_jwt\": say which")
      }
      kind = .privateKeyJWT
    }
    for key in Key.allCases where has(key) && Key.ofClientFiles.contains(key) && !kind.takes.contains(key) {
      throw error(key, "means nothing with client_auth = \"\(kind.rawValue)\"")
    }
    for key in Key.allCases where kind == .auto && has(key) && [.clientKeyID, .clientAssertionAudience].contains(key) {
      throw error(key, "means nothing without \"client_key_file\"")
    }
    let (secret, key, certificate) = (
      try path(.clientSecretFile), try path(.clientKeyFile), try path(.clientCertificateFile)
    )
    let (id, audience, team) = (
      try string(.clientKeyID), try string(.clientAssertionAudience), try string(.teamID)
    )
    switch (kind, secret, key) {
    case (.auto, _, _): return .automatic(secretFile: secret)
    case (.none, _, _): return .none
    case (.basic, let secret?, _): return .basic(secretFile: secret)
    case (.post, let secret?, _): return .post(secretFile: secret)
    case (.privateKeyJWT, _, let key?):
      return .privateKeyJWT(.init(file: key, certificateFile: certificate, id: id, audience: audience))
    case (.apple, _, let key?):
      if let id, let team { return .appleSecret(.init(file: key, id: id), teamID: team) }
    case (.tls, _, let key?):
      if let certificate { return .tls(certificateFile: certificate, keyFile: key) }
    case (.basic, nil, _), (.post, nil, _), (.privateKeyJWT, _, nil), (.apple, _, nil), (.tls, _, nil): break
    }
    let missing = kind.needs.first { !has($0) }?.rawValue ?? ""
    throw error("lacks \"\(missing)\", which client_auth \"\(kind.rawValue)\" needs")
  }
}

extension AccountConfiguration.Key {
  fileprivate static let ofClientFiles = ofClientProof.subtracting([.clientAuth]).union([.clientSecretFile])
}
