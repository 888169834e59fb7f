extension ProviderPreset {
  /// https://developer.okta.com/docs/guides/refresh-tokens/main/
  static let okta: Self = {
    var preset = Self(
      "okta", title: "Okta", at: .ownIssuer(example: "https://example.okta.com/oauth2/default"),
      rotation: .asConfigured)
    preset.offlineScopes = ["offline_access"]
    return preset
  }()
}
