extension ProviderResponse {
  private static let guide = "https://dev.twitch.tv/docs/authentication/refresh-tokens/"

  static let twitch: [ProviderResponse] = [
    ProviderResponse(
      "twitch", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","scope":["channel:read:subscriptions","channel:manage:polls"],"token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: nil), .documented, guide),
    ProviderResponse(
      "twitch", .rotated, 200,
      #"{"access_token":"{access}","expires_in":14542,"refresh_token":"{refresh}","scope":["user:read:email"],"token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 14542), .seen, "https://github.com/twitchdev/issues/issues/1037"),
    ProviderResponse(
      "twitch", .refused, 400, #"{"status":400,"message":"Invalid refresh token"}"#, means: .ends, .seen,
      "https://github.com/Teekeks/pyTwitchAPI/issues/37"),
    ProviderResponse(
      "twitch", .refused, 401, #"{"error":"Unauthorized","status":401,"message":"Invalid refresh token"}"#,
      means: .ends, .documented, guide),
    ProviderResponse(
      "twitch", .refused, 400, #"{"status":400,"message":"Invalid grant"}"#, means: .ends, .seen,
      "https://github.com/twitchdev/issues/issues/1042"),
    ProviderResponse(
      "twitch", .client, 403, #"{"status":403,"message":"invalid client secret"}"#, means: .misconfigured, .documented,
      guide),
    ProviderResponse(
      "twitch", .client, 400, #"{"status":400,"message":"missing client secret"}"#, means: .misconfigured, .documented,
      guide),
    ProviderResponse(
      "twitch", .client, 404, "404 page not found", type: "text/plain", means: .misconfigured, .seen,
      "https://github.com/twitchdev/issues/issues/862"),
  ]
}
