extension ProviderPreset {
  /// https://developers.hubspot.com/docs/api-reference/auth-oauth-v3/guide
  static let hubspot: Self = {
    var preset = Self(
      "hubspot", title: "HubSpot",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://api.hubapi.com/oauth/v3/token", authorization: "https://app.hubspot.com/oauth/authorize")),
      rotation: .never)
    preset.clientAuthentication = .post
    // It stands in "status", beside an "error" that says invalid_request or invalid_grant.
    preset.answerRules = [
      ResponseRule(code: "BAD_REFRESH_TOKEN", means: .final),
      ResponseRule(code: "BAD_CLIENT_ID", means: .misconfigured),
      ResponseRule(code: "BAD_CLIENT_SECRET", means: .misconfigured),
    ]
    return preset
  }()
}
