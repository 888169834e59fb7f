extension ProviderResponse {
  private static let guide = "https://discord.com/developers/docs/topics/oauth2"

  static let discord: [ProviderResponse] = [
    ProviderResponse(
      "discord", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":604800,"refresh_token":"{refresh}","scope":"identify"}"#,
      means: .grant(rotated: true, seconds: 604_800), .documented, guide),
    ProviderResponse(
      "discord", .refused, 400, #"{"error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/discord/discord-api-docs/issues/1650"),
    ProviderResponse(
      "discord", .client, 401, #"{"error":"invalid_client"}"#, means: .misconfigured, .documented, guide),
    ProviderResponse(
      "discord", .limited, 429, #"{"message":"You are being rate limited.","retry_after":64.57,"global":false}"#,
      headers: ["Retry-After": "65"], means: .unavailable, .documented,
      "https://discord.com/developers/docs/topics/rate-limits"),
    ProviderResponse(
      "discord", .gateway, 429, "error code: 1015", type: "text/plain; charset=UTF-8",
      headers: ["Server": "cloudflare"], means: .unavailable, .seen,
      "https://github.com/jaredhanson/passport-oauth2/issues/170"),
    ProviderResponse(
      "discord", .gateway, 403,
      "<!DOCTYPE html><html><head><title>Access denied | discord.com used Cloudflare</title></head></html>",
      type: "text/html; charset=UTF-8", headers: ["Server": "cloudflare"], means: .unavailable, .seen,
      "https://github.com/discord/discord-api-docs/issues/1808"),
  ]
}
