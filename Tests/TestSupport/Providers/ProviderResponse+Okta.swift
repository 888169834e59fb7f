extension ProviderResponse {
  private static let guide = "https://developer.okta.com/docs/guides/refresh-tokens/main/"

  static let okta: [ProviderResponse] = [
    ProviderResponse(
      "okta", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"scope":"openid offline_access","refresh_token":"{refresh}","id_token":"{id}"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, guide),
    ProviderResponse(
      "okta", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#, means: .ends, .seen,
      "https://support.okta.com/help/s/article/okta-refresh-token-invalid-or-expired-error-error-invalid-grant-error-description-the-refresh-token-is-invalid-or-expired"
    ),
    ProviderResponse(
      "okta", .client, 401,
      #"{"errorCode":"invalid_client","errorSummary":"Invalid value for 'client_id' parameter.","errorLink":"invalid_client","errorId":"oae5uj8XJ1rTLyNlVbXnBjk9w","errorCauses":[]}"#,
      means: .misconfigured, .documented, "https://developer.okta.com/docs/reference/error-codes/"),
    ProviderResponse(
      "okta", .interaction, 400,
      #"{"error":"access_denied","error_description":"The resource owner or authorization server denied the request."}"#,
      means: .unclear, .documented, "https://developer.okta.com/docs/reference/error-codes/"),
    ProviderResponse(
      "okta", .limited, 429,
      #"{"errorCode":"E0000047","errorSummary":"API call exceeded rate limit due to too many requests.","errorLink":"E0000047","errorId":"oae5uj8XJ1rTLyNlVbXnBjk9w","errorCauses":[]}"#,
      headers: ["X-Rate-Limit-Remaining": "0"], means: .unavailable, .documented,
      "https://developer.okta.com/docs/reference/rl-best-practices/"),
    ProviderResponse(
      "okta", .broken, 500, #"{"errorCode":"E0000009","errorSummary":"Internal Server Error"}"#, means: .unavailable,
      .documented, "https://developer.okta.com/docs/reference/error-codes/"),
  ]
}
