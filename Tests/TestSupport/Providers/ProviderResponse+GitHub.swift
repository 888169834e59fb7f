extension ProviderResponse {
  private static let refreshing =
    "https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens"
  private static let troubles =
    "https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors"

  static let github: [ProviderResponse] = [
    ProviderResponse(
      "github", .rotated, 200,
      #"{"access_token":"{access}","expires_in":28800,"refresh_token":"{refresh}","refresh_token_expires_in":15897600,"scope":"","token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 28800), .documented, refreshing),
    ProviderResponse(
      "github", .rotated, 200,
      #"{"access_token":"{access}","expires_in":"28800","refresh_token":"{refresh}","refresh_token_expires_in":"15811200","scope":"","token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 28800), .documented,
      "https://developer.github.com/changes/2020-04-30-expiring-user-to-server-access-tokens-for-github-apps"),
    ProviderResponse(
      "github", .rotated, 200,
      "access_token={access}&expires_in=28800&refresh_token={refresh}&refresh_token_expires_in=15897600&scope=&token_type=bearer",
      type: "application/x-www-form-urlencoded; charset=utf-8", means: .grant(rotated: true, seconds: 28800),
      .documented, refreshing),
    ProviderResponse(
      "github", .refused, 200,
      #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired.","error_uri":"https://docs.github.com/"}"#,
      means: .ends, .seen, "https://www.nango.dev/blog/github-app-oauth-refresh-token-bad-refresh-token"),
    ProviderResponse(
      "github", .refused, 200,
      "error=bad_refresh_token&error_description=The+refresh+token+passed+is+incorrect+or+expired.",
      type: "application/x-www-form-urlencoded; charset=utf-8", means: .ends, .documented, refreshing),
    ProviderResponse(
      "github", .client, 200,
      #"{"error":"incorrect_client_credentials","error_description":"The client_id and/or client_secret passed are incorrect."}"#,
      means: .misconfigured, .documented, troubles),
    ProviderResponse(
      "github", .interaction, 200,
      #"{"error":"unverified_user_email","error_description":"The user must have a verified primary email."}"#,
      means: .unclear, .documented, troubles),
    ProviderResponse(
      "github", .client, 404, #"{"error":"Not Found"}"#, means: .misconfigured, .documented, troubles),
    ProviderResponse(
      "github", .limited, 429, "Too Many Requests", type: "text/plain", headers: ["Retry-After": "60"],
      means: .unavailable, .documented,
      "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"),
  ]
}
