extension ProviderPreset {
  /// https://developers.google.com/identity/protocols/oauth2/web-server#offline
  ///
  /// `invalid_scope` answers a refresh that names scopes such as `offline_access`, which it does not know.
  static let google: Self = {
    var preset = Self("google", title: "Google", at: .issuer("https://accounts.google.com"), rotation: .never)
    preset.clientAuthentication = .post
    preset.authorizationParameters = ["access_type": "offline", "prompt": "consent"]
    preset.answerRules = ["admin_policy_enforced", "org_internal", "deleted_client", "disabled_client"].map {
      ResponseRule(code: $0, means: .misconfigured)
    }
    return preset
  }()
}
