extension ProviderResponse {
  private static let guide = "https://developers.zoom.us/docs/integrations/oauth/"

  static let zoom: [ProviderResponse] = [
    ProviderResponse(
      "zoom", .rotated, 200,
      #"{"access_token":"{access}","token_type":"bearer","refresh_token":"{refresh}","expires_in":3599,"scope":"user:read:user","api_url":"https://api.zoom.us"}"#,
      means: .grant(rotated: true, seconds: 3599), .documented, guide),
    ProviderResponse(
      "zoom", .refused, 400, #"{"reason":"Invalid Token!","error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/raycast/extensions/issues/10896"),
    ProviderResponse(
      "zoom", .refused, 401, #"{"reason":"Invalid Token!","error":"invalid_request"}"#, means: .ends, .seen,
      "https://github.com/tl-its-umich-edu/remote-office-hours-queue/issues/363"),
    ProviderResponse(
      "zoom", .client, 400, #"{"reason":"Invalid client_id or client_secret","error":"invalid_client"}"#,
      means: .misconfigured, .documented, guide),
    ProviderResponse(
      "zoom", .limited, 429, #"{"code":429,"message":"You have reached the maximum per-second rate limit."}"#,
      means: .unavailable, .documented, "https://developers.zoom.us/docs/api/rate-limits/"),
  ]
}
