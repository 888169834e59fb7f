extension ProviderResponse {
  private static let guide = "https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens"

  static let spotify: [ProviderResponse] = [
    ProviderResponse(
      "spotify", .renewed, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"scope":"user-read-email"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, guide),
    ProviderResponse(
      "spotify", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"refresh_token":"{refresh}","scope":"user-read-email"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, guide),
    ProviderResponse(
      "spotify", .refused, 400, #"{"error":"invalid_grant","error_description":"Refresh token revoked"}"#, means: .ends,
      .seen, "https://github.com/novatorem/novatorem/issues/81"),
    ProviderResponse(
      "spotify", .refused, 400, #"{"error":"invalid_grant","error_description":"Invalid refresh token"}"#, means: .ends,
      .seen, "https://github.com/novatorem/novatorem/issues/74"),
    ProviderResponse(
      "spotify", .client, 400, #"{"error":"invalid_client","error_description":"Invalid client secret"}"#,
      means: .misconfigured, .documented, guide),
    ProviderResponse(
      "spotify", .broken, 503, #"{"error":"server_error","error_description":"Service temporarily unavailable"}"#,
      means: .unavailable, .documented, "https://developer.spotify.com/documentation/web-api/concepts/api-calls"),
  ]
}
