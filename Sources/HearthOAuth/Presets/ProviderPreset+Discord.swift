extension ProviderPreset {
  /// https://discord.com/developers/docs/topics/oauth2
  static let discord: Self = {
    var preset = Self(
      "discord", title: "Discord",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://discord.com/api/oauth2/token", authorization: "https://discord.com/oauth2/authorize",
          revocation: "https://discord.com/api/oauth2/token/revoke",
          userInfo: "https://discord.com/api/v10/users/@me")),
      rotation: .always)
    preset.userInfoSubjectField = "id"
    return preset
  }()
}
