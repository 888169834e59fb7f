extension ProviderPreset {
  /// https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/
  ///
  /// It says `unauthorized_client` of a refresh token too, which elsewhere is said of a client.
  static let atlassian: Self = {
    var preset = Self(
      "atlassian", title: "Atlassian",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://auth.atlassian.com/oauth/token", authorization: "https://auth.atlassian.com/authorize",
          userInfo: "https://api.atlassian.com/me")),
      rotation: .always)
    preset.clientAuthentication = .post
    preset.offlineScopes = ["offline_access"]
    preset.authorizationParameters = ["audience": "api.atlassian.com", "prompt": "consent"]
    preset.userInfoSubjectField = "account_id"
    preset.answerRules = [
      ResponseRule(code: "unauthorized_client", phrase: "refresh_token is invalid", means: .final),
      ResponseRule(code: "access_denied", phrase: "Unauthorized", means: .misconfigured),
    ]
    return preset
  }()
}
