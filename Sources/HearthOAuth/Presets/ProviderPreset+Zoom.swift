extension ProviderPreset {
  /// https://developers.zoom.us/docs/integrations/oauth/
  static let zoom: Self = {
    var preset = Self(
      "zoom", title: "Zoom",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://zoom.us/oauth/token", authorization: "https://zoom.us/oauth/authorize",
          device: "https://zoom.us/oauth/devicecode", revocation: "https://zoom.us/oauth/revoke",
          userInfo: "https://api.zoom.us/v2/users/me")),
      rotation: .always)
    preset.clientAuthentication = .basic
    preset.userInfoSubjectField = "id"
    preset.answerRules = [
      ResponseRule(code: "invalid_request", phrase: "Invalid Token", means: .final)
    ]
    return preset
  }()
}
