extension ProviderResponse {
  private static let guide = "https://developers.strava.com/docs/authentication/"

  private static func refusal(_ resource: String, _ field: String) -> String {
    #"{"message":"Bad Request","errors":[{"resource":"\#(resource)","field":"\#(field)","code":"invalid"}]}"#
  }

  static let strava: [ProviderResponse] = [
    ProviderResponse(
      "strava", .rotated, 200,
      #"{"token_type":"Bearer","access_token":"{access}","expires_at":1568775134,"expires_in":20566,"refresh_token":"{refresh}"}"#,
      means: .grant(rotated: true, seconds: 20566), .documented, guide),
    ProviderResponse(
      "strava", .refused, 400, refusal("RefreshToken", "refresh_token"), means: .ends, .seen,
      "https://github.com/dreeveapp/dreeve/issues/1449"),
    ProviderResponse(
      "strava", .client, 400, refusal("Application", "client_id"), means: .misconfigured, .documented, guide),
    ProviderResponse(
      "strava", .limited, 429,
      #"{"message":"Rate Limit Exceeded","errors":[{"resource":"Application","field":"rate limit","code":"exceeded"}]}"#,
      means: .unavailable, .documented, "https://developers.strava.com/docs/rate-limits/"),
  ]
}
