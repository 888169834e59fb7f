extension ProviderResponse {
  private static let flow = "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_refresh_token_flow.htm"
  private static let errors = "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_flow_errors.htm"

  static let salesforce: [ProviderResponse] = [
    ProviderResponse(
      "salesforce", .renewed, 200,
      #"{"id":"https://login.salesforce.com/id/00Dx0000000BV7z/005x00000012Q9P","issued_at":"1278448384422","instance_url":"https://example.my.salesforce.com","signature":"SSSbLO/gBhmmyNUvN18ODBDFYHzakxOMgqYtu+hDPsc=","access_token":"{access}","token_type":"Bearer","scope":"id api refresh_token"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented,
      "https://developer.salesforce.com/docs/atlas.en-us.218.0.api_rest.meta/api_rest/intro_understanding_refresh_token_oauth.htm"
    ),
    ProviderResponse(
      "salesforce", .refused, 400,
      #"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#, means: .ends, .seen,
      "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .refused, 400, #"{"error":"invalid_grant","error_description":"authentication failure"}"#,
      means: .ends, .seen, "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .gateway, 400,
      #"{"error":"invalid_grant","error_description":"ip restricted or invalid login hours"}"#, means: .unclear,
      .documented, errors),
    ProviderResponse(
      "salesforce", .disabled, 400, #"{"error":"inactive_user","error_description":"user is inactive"}"#,
      means: .endsDisabled, .documented, errors),
    ProviderResponse(
      "salesforce", .disabled, 400, #"{"error":"inactive_org","error_description":"organization is inactive"}"#,
      means: .unclear, .documented, errors),
    ProviderResponse(
      "salesforce", .client, 400, #"{"error":"invalid_client_id","error_description":"client identifier invalid"}"#,
      means: .misconfigured, .documented, errors),
    ProviderResponse(
      "salesforce", .client, 400, #"{"error":"invalid_client","error_description":"invalid client credentials"}"#,
      means: .misconfigured, .seen, "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .limited, 400, #"{"error":"rate_limit_exceeded","error_description":"login rate exceeded"}"#,
      means: .unavailable, .documented, errors),
  ]
}
