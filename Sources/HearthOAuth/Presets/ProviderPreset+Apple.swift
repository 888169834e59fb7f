extension ProviderPreset {
  /// https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens
  ///
  /// The client's secret is a JWT of its own, signed with ES256, for `https://appleid.apple.com` and at most six months.
  /// The endpoints are named because Apple tells them at more than one issuer's address.
  static let apple: Self = {
    var preset = Self(
      "apple", title: "Sign in with Apple",
      at: .endpoints(
        ProviderEndpoints(
          preset: "https://appleid.apple.com/auth/token", authorization: "https://appleid.apple.com/auth/authorize",
          revocation: "https://appleid.apple.com/auth/revoke")),
      rotation: .never)
    preset.clientAuthentication = .apple
    preset.authorizationParameters = ["response_mode": "form_post"]
    return preset
  }()
}
