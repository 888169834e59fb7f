extension ProviderPreset {
  /// https://docs.gitlab.com/api/oauth2/
  ///
  /// An instance of one's own is named as the issuer.
  static let gitlab = Self("gitlab", title: "GitLab", at: .issuer("https://gitlab.com"), rotation: .always)
}
