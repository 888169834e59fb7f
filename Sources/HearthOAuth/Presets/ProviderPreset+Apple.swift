extension ProviderPreset {
  /// https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens
  ///
  /// The client's secret is a JWT of its own, signed with ES256, for `https://appleid.apple.com` and at most six months.
  static let apple: Self = {
    var preset = Self(
      "apple", title: "Sign in with Apple", at: .issuer("https://appleid.apple.com"), rotation: .never)
    preset.clientAuthentication = .apple
    preset.authorizationParameters = ["response_mode": "form_post"]
    return preset
  }()
}
