import HearthOAuth

extension TableReader<AccountConfiguration.Key> {
  /// What is known beforehand of the provider that the account names.
  func preset() throws(ConfigurationError) -> ProviderPreset? {
    guard let name = try string(.provider) else { return nil }
    guard let preset = ProviderPreset.named(name) else {
      let names = ProviderPreset.names.map { "\"\($0)\"" }
      throw error(
        .provider,
        "cannot be \"\(name)\": it is \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
    }
    return preset
  }

  /// How the client authenticates with a preset's provider, where the account does not say: a client without a secret
  /// only names itself, and one with a key signs.
  func clientAuth(_ preset: ProviderPreset.ClientAuthentication?) -> AccountConfiguration.ClientAuth {
    switch preset {
    case nil: .auto
    case ProviderPreset.ClientAuthentication.none?: has(.clientKeyFile) ? .auto : .none
    case .basic?: has(.clientSecretFile) ? .basic : .auto
    case .post?: has(.clientSecretFile) ? .post : .auto
    // A secret that was signed elsewhere.
    case .apple?: has(.clientSecretFile) && !has(.clientKeyFile) ? .post : .apple
    }
  }
}

extension ProviderPreset {
  /// A type that the account names may be another than the preset's, where it is asked in the same way.
  func suits(_ kind: AccountConfiguration.Kind) -> Bool {
    switch (place, kind) {
    case (.firebase, .firebase): true
    case (.firebase, _), (_, .firebase), (_, .json): false
    case (.issuer, .oidc), (.issuer, .oauth2), (.issuer, .clientCredentials): true
    case (.ownIssuer, .oidc), (.ownIssuer, .oauth2), (.ownIssuer, .clientCredentials): true
    case (.endpoints, .oidc), (.endpoints, .oauth2), (.endpoints, .clientCredentials): true
    }
  }
}
