extension ProviderResponse {
  private static let guide = "https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/"

  static let atlassian: [ProviderResponse] = [
    ProviderResponse(
      "atlassian", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","expires_in":3600,"scope":"read:jira-work offline_access"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, guide),
    ProviderResponse(
      "atlassian", .refused, 403, #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#,
      means: .ends, .documented, guide),
    ProviderResponse(
      "atlassian", .refused, 403,
      #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#, means: .ends, .seen,
      "https://nango.dev/blog/jira-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "atlassian", .client, 401, #"{"error":"access_denied","error_description":"Unauthorized"}"#,
      means: .misconfigured,
      .documented, guide),
    ProviderResponse(
      "atlassian", .limited, 429, #"{"code":429,"message":"Rate limit exceeded"}"#, headers: ["Retry-After": "10"],
      means: .unavailable, .documented, "https://developer.atlassian.com/cloud/jira/platform/rate-limiting/"),
  ]
}
