extension ProviderPreset {
  /// https://developers.strava.com/docs/authentication/
  ///
  /// Errors are a list of resource, field and code. While an access token has more than an hour left, a refresh brings
  /// the same one again.
  static let strava: Self = {
    var preset = Self(
      "strava", title: "Strava",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://www.strava.com/api/v3/oauth/token",
          authorization: "https://www.strava.com/oauth/authorize",
          userInfo: "https://www.strava.com/api/v3/athlete")),
      rotation: .lenient)
    preset.clientAuthentication = .post
    preset.authorizationParameters = ["approval_prompt": "auto"]
    preset.userInfoSubjectField = "id"
    preset.answerRules = [
      ResponseRule(phrase: "RefreshToken refresh_token invalid", means: .final),
      ResponseRule(phrase: "RefreshToken code invalid", means: .final),
      ResponseRule(phrase: "Application client_id invalid", means: .misconfigured),
      ResponseRule(phrase: "Application client_secret invalid", means: .misconfigured),
    ]
    return preset
  }()
}
