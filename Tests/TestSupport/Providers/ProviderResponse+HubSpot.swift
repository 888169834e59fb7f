extension ProviderResponse {
  private static let guide = "https://developers.hubspot.com/docs/api-reference/auth-oauth-v3/guide"

  static let hubspot: [ProviderResponse] = [
    ProviderResponse(
      "hubspot", .renewed, 200,
      #"{"token_type":"bearer","refresh_token":"{refresh}","access_token":"{access}","hub_id":1234567,"expires_in":1800}"#,
      means: .grant(rotated: true, seconds: 1800), .documented, guide),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token","correlationId":"6356f281-f9bb-4454-926e-516aaac0104f"}"#,
      means: .ends, .seen, "https://github.com/airbytehq/airbyte/issues/79592"),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"error":"invalid_grant","error_description":"refresh token is invalid, expired or revoked","status":"BAD_REFRESH_TOKEN","message":"refresh token is invalid, expired or revoked"}"#,
      means: .ends, .documented, guide),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"status":"BAD_REFRESH_TOKEN","error":"invalid_request","message":"missing or unknown refresh token"}"#,
      means: .ends, .seen, "https://github.com/supaglue-labs/supaglue/pull/1935"),
    ProviderResponse(
      "hubspot", .client, 400, #"{"status":"BAD_CLIENT_ID","message":"missing or unknown client id"}"#,
      means: .misconfigured, .documented, guide),
    ProviderResponse(
      "hubspot", .limited, 429,
      #"{"status":"error","message":"You have reached your secondly limit.","errorType":"RATE_LIMIT","policyName":"SECONDLY"}"#,
      means: .unavailable, .documented,
      "https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines"),
  ]
}
