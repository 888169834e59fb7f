extension ProviderResponse {
  private static let guide =
    "https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html#using-refresh-tokens"

  static let amazon: [ProviderResponse] = [
    ProviderResponse(
      "amazon", .renewed, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","token_type":"bearer","expires_in":3600}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, guide),
    ProviderResponse(
      "amazon", .refused, 400,
      #"{"error_description":"The request has an invalid grant parameter : refresh_token. User may have revoked or didn't grant the permission.","error":"invalid_grant"}"#,
      means: .ends, .seen, "https://github.com/amzn/selling-partner-api-docs/issues/2379"),
    ProviderResponse(
      "amazon", .client, 401, #"{"error_description":"Client authentication failed","error":"invalid_client"}"#,
      means: .misconfigured, .seen, "https://github.com/amzn/selling-partner-api-models/issues/783"),
    ProviderResponse(
      "amazon", .client, 400,
      #"{"error_index":"UQ9as9cdbgs5WknHyot3QwAAAAAAAAAB","error_description":"Malformed request","error":"invalid_request"}"#,
      means: .misconfigured, .seen, "https://github.com/amzn/selling-partner-api-models/issues/1851"),
    ProviderResponse(
      "amazon", .broken, 500, #"{"error":"ServerError","error_description":"The server encountered a runtime error."}"#,
      means: .unavailable, .documented, guide),
  ]
}
