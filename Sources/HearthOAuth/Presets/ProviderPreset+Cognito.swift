extension ProviderPreset {
  /// https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html
  static let cognito = Self(
    "cognito", title: "Amazon Cognito",
    at: .ownIssuer(example: "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE"),
    rotation: .asConfigured)
}
