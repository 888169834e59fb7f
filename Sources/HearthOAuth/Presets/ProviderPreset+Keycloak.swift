extension ProviderPreset {
  /// https://www.keycloak.org/docs/latest/server_admin/#_timeouts
  ///
  /// Without `offline_access` the refresh token ends with the session in the browser, and says when.
  static let keycloak: Self = {
    var preset = Self(
      "keycloak", title: "Keycloak", at: .ownIssuer(example: "https://id.example.com/realms/example"),
      rotation: .asConfigured)
    preset.answerRules = [
      ResponseRule(code: "invalid_grant", phrase: "user disabled", means: .accountDisabled)
    ]
    return preset
  }()
}
