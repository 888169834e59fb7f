extension ProviderPreset {
  /// https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens
  ///
  /// Clients with a secret keep their refresh token; those with PKCE get a new one each time.
  static let spotify: Self = {
    var preset = Self(
      "spotify", title: "Spotify",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://accounts.spotify.com/api/token", authorization: "https://accounts.spotify.com/authorize",
          userInfo: "https://api.spotify.com/v1/me")),
      rotation: .asConfigured)
    preset.userInfoSubjectField = "id"
    return preset
  }()
}
