extension ProviderPreset {
  /// https://auth0.com/docs/secure/tokens/refresh-tokens
  ///
  /// Refusals come with 403. The issuer ends with a slash.
  static let auth0: Self = {
    var preset = Self(
      "auth0", title: "Auth0", at: .ownIssuer(example: "https://example.eu.auth0.com/"), rotation: .asConfigured)
    preset.offlineScopes = ["offline_access"]
    preset.answerRules = [
      ResponseRule(code: "invalid_grant", phrase: "user is blocked", means: .accountDisabled),
      // So it answers a wrong secret; what an Action denies has a description of its own.
      ResponseRule(code: "access_denied", phrase: "Unauthorized", means: .misconfigured),
    ]
    return preset
  }()
}
