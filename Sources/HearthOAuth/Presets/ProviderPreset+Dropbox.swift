extension ProviderPreset {
  /// https://www.dropbox.com/developers/documentation/http/documentation#oauth2-token
  static let dropbox: Self = {
    var preset = Self(
      "dropbox", title: "Dropbox",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://api.dropboxapi.com/oauth2/token",
          authorization: "https://www.dropbox.com/oauth2/authorize")),
      rotation: .never)
    preset.clientAuthentication = .post
    preset.authorizationParameters = ["token_access_type": "offline"]
    return preset
  }()
}
