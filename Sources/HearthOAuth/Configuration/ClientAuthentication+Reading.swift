import HearthCore

extension ClientAuthentication {
  package enum Method: String, CaseIterable, Sendable {
    case auto, none, basic, post
    case privateKeyJWT = "private_key_jwt"
    case tls, apple

    fileprivate var keys: [ProviderKey] {
      switch self {
      case .auto: [.clientSecretFile, .clientKeyFile, .clientKeyID, .clientAssertionAudience]
      case .none: []
      case .basic, .post: [.clientSecretFile]
      case .privateKeyJWT: [.clientKeyFile, .clientKeyID, .clientCertificateFile, .clientAssertionAudience]
      case .tls: [.clientCertificateFile, .clientKeyFile]
      case .apple: [.clientKeyFile, .clientKeyID, .teamID]
      }
    }

    /// The keys that only some methods use.
    fileprivate static let allKeys: [ProviderKey] = [
      .clientSecretFile, .clientKeyFile, .clientKeyID, .clientCertificateFile, .clientAssertionAudience, .teamID,
    ]
  }

  init(reading table: TableReader<ProviderKey>, _ preset: ProviderPreset?) throws {
    var method = try table.choice(.clientAuth, as: Method.self) ?? Method(of: preset, for: table)
    if method == .auto, table.has(.clientKeyFile) {
      if table.has(.clientCertificateFile) {
        throw table.error(
          .clientCertificateFile,
          "requires client_auth = \"tls\" or \"private_key_jwt\"")
      }
      method = .privateKeyJWT
    }
    for key in Method.allKeys where table.has(key) && !method.keys.contains(key) {
      throw table.error(key, "has no effect with client_auth = \"\(method.rawValue)\"")
    }
    for key in [ProviderKey.clientKeyID, .clientAssertionAudience] where method == .auto && table.has(key) {
      throw table.error(key, "has no effect without \"client_key_file\"")
    }
    let secret = try table.file(.clientSecretFile, "client secret", isSecret: true)
    let key = try table.file(.clientKeyFile, "client key", isSecret: true)
    let certificate = try table.file(.clientCertificateFile, "client certificate")
    let id = try table.string(.clientKeyID)
    let audience = try table.string(.clientAssertionAudience)
    let team = try table.string(.teamID)
    func required<Value>(_ value: Value?, _ key: ProviderKey) throws -> Value {
      guard let value else {
        throw table.error("lacks \"\(key.rawValue)\", which client_auth \"\(method.rawValue)\" needs")
      }
      return value
    }
    switch method {
    case .auto: self = .automatic(secret)
    case .none: self = .none
    case .basic: self = .basic(try required(secret, .clientSecretFile))
    case .post: self = .post(try required(secret, .clientSecretFile))
    case .privateKeyJWT:
      let key = try required(key, .clientKeyFile)
      self = .assertion(ClientKey(file: key, certificate: certificate, id: id, audience: audience))
    case .tls:
      _ = (try required(certificate, .clientCertificateFile), try required(key, .clientKeyFile))
      self = .tls
    case .apple:
      let key = ClientKey(file: try required(key, .clientKeyFile), id: try required(id, .clientKeyID))
      self = .appleSecret(key, teamID: try required(team, .teamID))
    }
  }
}

extension ClientAuthentication.Method {
  /// Chooses the method for an account without `client_auth`: the preset's method, or another one if the account's keys
  /// do not fit the preset's.
  fileprivate init(of preset: ProviderPreset?, for table: TableReader<ProviderKey>) {
    let usual = preset?.clientAuthentication ?? .auto
    self =
      switch usual {
      case .none: table.has(.clientKeyFile) ? .auto : .none
      case .basic, .post: table.has(.clientSecretFile) ? usual : .auto
      // A secret file without a key contains a JWT that was signed elsewhere. Hearth sends it like any other secret.
      case .apple: table.has(.clientSecretFile) && !table.has(.clientKeyFile) ? .post : .apple
      case .auto, .privateKeyJWT, .tls: usual
      }
  }
}

extension TableReader<ProviderKey> {
  /// Reads the path of a file. Returns `nil` if the key is missing. `name` describes the file's content in messages.
  func file(_ key: ProviderKey, _ name: String, limit: Int = 1 << 16, isSecret: Bool = false) throws -> ClientFile? {
    try path(key).map { ClientFile(name: name, path: $0, limit: limit, isSecret: isSecret) }
  }
}
