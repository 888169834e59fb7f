extension ProviderPreset {
  /// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow and …/reference-error-codes
  ///
  /// `common` stands for all tenants; an account of one tenant names that one's issuer. The old refresh token is not
  /// revoked by its use, and the scopes have to be named again.
  static let microsoft: Self = {
    var preset = Self(
      "microsoft", title: "Microsoft Entra ID", at: .issuer("https://login.microsoftonline.com/common/v2.0"),
      rotation: .lenient)
    preset.sendsScopeOnRefresh = true
    preset.offlineScopes = ["offline_access"]
    preset.answerRules = [
      // A client that asks too often is told invalid_grant, and goes on with the same token after some minutes.
      ResponseRule(code: "invalid_grant", phrase: "AADSTS50196", means: .unavailable),
      ResponseRule(code: "invalid_grant", phrase: "AADSTS50057", means: .accountDisabled),
      // Conditional access speaks of the device and the network, and of the token nothing: back in the office it is taken.
      ResponseRule(phrase: "AADSTS53000", means: .unclear), ResponseRule(phrase: "AADSTS53001", means: .unclear),
      ResponseRule(phrase: "AADSTS53003", means: .unclear),
    ]
    return preset
  }()
}
