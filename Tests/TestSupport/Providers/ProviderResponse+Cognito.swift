extension ProviderResponse {
  private static let guide = "https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html"

  static let cognito: [ProviderResponse] = [
    ProviderResponse(
      "cognito", .renewed, 200,
      #"{"access_token":"{access}","id_token":"{id}","token_type":"Bearer","expires_in":3600}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, guide),
    ProviderResponse(
      "cognito", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","id_token":"{id}","token_type":"Bearer","expires_in":3600}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, guide),
    ProviderResponse(
      "cognito", .refused, 400, #"{"error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/aws/aws-sdk-js/issues/3836"),
    ProviderResponse(
      "cognito", .client, 400, #"{"error":"invalid_client"}"#, means: .misconfigured, .seen,
      "https://github.com/amazon-archives/amazon-cognito-auth-js/issues/116"),
    ProviderResponse(
      "cognito", .client, 400, #"{"error":"unauthorized_client"}"#, means: .misconfigured, .documented, guide),
    ProviderResponse(
      "cognito", .gateway, 403, #"{"message":"Forbidden"}"#, means: .unclear, .documented,
      "https://docs.aws.amazon.com/cognito/latest/developerguide/user-pool-waf.html"),
    ProviderResponse(
      "cognito", .limited, 429, #"{"message":"Rate exceeded"}"#, means: .unavailable, .documented,
      "https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html"),
  ]
}
