extension ProviderPreset {
  /// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
  ///
  /// GitHub Apps' tokens live for eight hours; those of OAuth apps do not run out and have no refresh token. Refusals
  /// come with 200.
  static let github: Self = {
    var preset = Self(
      "github", title: "GitHub",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://github.com/login/oauth/access_token",
          authorization: "https://github.com/login/oauth/authorize", device: "https://github.com/login/device/code",
          userInfo: "https://api.github.com/user")),
      rotation: .always)
    preset.clientAuthentication = .post
    preset.userInfoSubjectField = "id"
    return preset
  }()
}
