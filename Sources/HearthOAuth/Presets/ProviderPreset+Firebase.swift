extension ProviderPreset {
  /// https://firebase.google.com/docs/reference/rest/auth#section-refresh-token
  ///
  /// Holds for every account of the type `firebase`, with or without the key `provider`.
  static let firebase: Self = {
    var preset = Self("firebase", title: "Firebase Authentication", at: .firebase, rotation: .never)
    preset.clientAuthentication = ClientAuthentication.none
    preset.answerRules =
      [
        "API_KEY_HTTP_REFERRER_BLOCKED", "API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_SERVICE_BLOCKED",
        "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED", "SERVICE_DISABLED", "PROJECT_NUMBER_MISMATCH",
        "MISSING_REFRESH_TOKEN",
      ].map { ResponseRule(code: $0, means: .misconfigured) }
      + ["TOO_MANY_ATTEMPTS_TRY_LATER", "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"].map {
        ResponseRule(code: $0, means: .unavailable)
      }
    return preset
  }()
}
