extension ProviderPreset {
  /// https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html#using-refresh-tokens
  static let amazon: Self = {
    var preset = Self(
      "amazon", title: "Login with Amazon",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://api.amazon.com/auth/o2/token", authorization: "https://www.amazon.com/ap/oa",
          device: "https://api.amazon.com/auth/o2/create/codepair",
          userInfo: "https://api.amazon.com/user/profile")),
      rotation: .never)
    preset.clientAuthentication = .post
    preset.userInfoSubjectField = "user_id"
    return preset
  }()
}
