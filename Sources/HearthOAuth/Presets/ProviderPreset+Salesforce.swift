extension ProviderPreset {
  /// https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_refresh_token_flow.htm
  ///
  /// An access token lives as long as the organization's session timeout (two hours unless set otherwise), which no
  /// answer tells. A domain of one's own is named as the issuer.
  static let salesforce: Self = {
    var preset = Self(
      "salesforce", title: "Salesforce", at: .issuer("https://login.salesforce.com"), rotation: .asConfigured)
    preset.clientAuthentication = .post
    preset.offlineScopes = ["refresh_token"]
    preset.defaultLifetime = .seconds(3600)
    preset.answerRules = [
      // Said of where the request came from and when, not of the token.
      ResponseRule(code: "invalid_grant", phrase: "ip restricted", means: .unclear),
      ResponseRule(code: "inactive_user", means: .accountDisabled),
      ResponseRule(code: "rate_limit_exceeded", means: .unavailable),
      ResponseRule(code: "invalid_client_id", means: .misconfigured),
      ResponseRule(code: "invalid_app_access", means: .misconfigured),
    ]
    return preset
  }()
}
