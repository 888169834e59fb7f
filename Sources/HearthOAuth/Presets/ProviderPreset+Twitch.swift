extension ProviderPreset {
  /// https://dev.twitch.tv/docs/authentication/refresh-tokens/
  ///
  /// Errors have a status and a message, and no code. A public client's refresh token ends with its use, others' do not.
  static let twitch: Self = {
    var preset = Self(
      "twitch", title: "Twitch",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://id.twitch.tv/oauth2/token", authorization: "https://id.twitch.tv/oauth2/authorize",
          device: "https://id.twitch.tv/oauth2/device", revocation: "https://id.twitch.tv/oauth2/revoke",
          userInfo: "https://id.twitch.tv/oauth2/userinfo")),
      rotation: .lenient)
    preset.clientAuthentication = .post
    preset.answerRules = [
      ResponseRule(phrase: "Invalid refresh token", means: .final),
      ResponseRule(phrase: "Invalid grant", means: .final),
      ResponseRule(phrase: "invalid client", means: .misconfigured),
      ResponseRule(phrase: "missing client", means: .misconfigured),
    ]
    return preset
  }()
}
