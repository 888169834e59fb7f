extension ProviderPreset {
  /// https://docs.slack.dev/authentication/using-token-rotation and …/reference/methods/oauth.v2.access
  ///
  /// Refusals come with 200 and `"ok": false`. A token's type is `bot` or `user`, and it is sent as Bearer.
  static let slack: Self = {
    var preset = Self(
      "slack", title: "Slack",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://slack.com/api/oauth.v2.access", authorization: "https://slack.com/oauth/v2/authorize")),
      rotation: .always)
    preset.clientAuthentication = .post
    preset.finalErrors = ["token_revoked"]
    preset.answerRules =
      [ResponseRule(code: "account_inactive", means: .accountDisabled)]
      + ["invalid_client_id", "bad_client_secret", "invalid_grant_type", "oauth_authorization_url_mismatch"].map {
        ResponseRule(code: $0, means: .misconfigured)
      }
      + ["ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"].map {
        ResponseRule(code: $0, means: .unavailable)
      }
    return preset
  }()
}
