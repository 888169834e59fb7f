extension ProviderResponse {
  private static let tokens = "https://auth0.com/docs/secure/tokens/refresh-tokens/use-refresh-tokens"

  static let auth0: [ProviderResponse] = [
    ProviderResponse(
      "auth0", .renewed, 200,
      #"{"access_token":"{access}","expires_in":86400,"scope":"openid offline_access","id_token":"{id}","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 86400), .documented, tokens),
    ProviderResponse(
      "auth0", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","id_token":"{id}","scope":"openid offline_access","expires_in":86400,"token_type":"Bearer"}"#,
      means: .grant(rotated: true, seconds: 86400), .documented,
      "https://auth0.com/docs/secure/tokens/refresh-tokens/refresh-token-rotation"),
    ProviderResponse(
      "auth0", .refused, 403,
      #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#, means: .ends, .seen,
      "https://github.com/auth0/Auth0.swift/issues/819"),
    ProviderResponse(
      "auth0", .disabled, 403, #"{"error":"invalid_grant","error_description":"user is blocked"}"#,
      means: .endsDisabled, .seen, "https://github.com/ionic-team/demo-authconnect-auth0/issues/4"),
    ProviderResponse(
      "auth0", .interaction, 403,
      #"{"error":"mfa_required","error_description":"Multifactor authentication required","mfa_token":"{access}"}"#,
      means: .unclear, .documented,
      "https://auth0.com/docs/secure/multi-factor-authentication/authenticate-using-ropg-flow-with-mfa"),
    ProviderResponse(
      "auth0", .client, 401, #"{"error":"access_denied","error_description":"Unauthorized"}"#, means: .misconfigured,
      .documented, tokens),
    ProviderResponse(
      "auth0", .interaction, 403, #"{"error":"access_denied","error_description":"Access from here is not allowed."}"#,
      means: .unclear, .documented,
      "https://auth0.com/docs/customize/actions/explore-triggers/signup-and-login-triggers/login-trigger"),
    ProviderResponse(
      "auth0", .client, 403,
      #"{"error":"unauthorized_client","error_description":"Grant type 'refresh_token' not allowed for the client."}"#,
      means: .misconfigured, .documented, tokens),
    ProviderResponse(
      "auth0", .limited, 429, #"{"error":"too_many_requests","error_description":"Global limit has been reached"}"#,
      headers: ["x-ratelimit-remaining": "0"], means: .unavailable, .documented,
      "https://auth0.com/docs/troubleshoot/customer-support/operational-policies/rate-limit-policy"),
  ]
}
