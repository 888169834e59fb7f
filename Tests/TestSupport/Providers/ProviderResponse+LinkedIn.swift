extension ProviderResponse {
  private static let guide = "https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens"

  static let linkedin: [ProviderResponse] = [
    ProviderResponse(
      "linkedin", .renewed, 200,
      #"{"access_token":"{access}","expires_in":5184000,"refresh_token":"{refresh}","refresh_token_expires_in":439200}"#,
      means: .grant(rotated: true, seconds: 5_184_000), .documented, guide),
    ProviderResponse(
      "linkedin", .refused, 400,
      #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, means: .ends, .seen,
      "https://nango.dev/blog/linkedin-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "linkedin", .client, 401, #"{"error":"invalid_client","error_description":"Client authentication failed"}"#,
      means: .misconfigured, .documented,
      "https://learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow"),
    ProviderResponse(
      "linkedin", .limited, 429, #"{"serviceErrorCode":101,"message":"Throttle limit reached","status":429}"#,
      means: .unavailable, .documented, "https://learn.microsoft.com/linkedin/shared/api-guide/concepts/rate-limits"),
  ]
}
