extension ProviderPreset {
  /// https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens
  static let linkedin: Self = {
    var preset = Self(
      "linkedin", title: "LinkedIn",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://www.linkedin.com/oauth/v2/accessToken",
          authorization: "https://www.linkedin.com/oauth/v2/authorization",
          revocation: "https://www.linkedin.com/oauth/v2/revoke",
          userInfo: "https://api.linkedin.com/v2/userinfo")),
      rotation: .never)
    preset.clientAuthentication = .post
    return preset
  }()
}
