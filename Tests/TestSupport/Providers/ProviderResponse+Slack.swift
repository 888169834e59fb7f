extension ProviderResponse {
  private static let rotation = "https://docs.slack.dev/authentication/using-token-rotation"
  private static let method = "https://docs.slack.dev/reference/methods/oauth.v2.access"

  private static func refusal(_ situation: Situation, _ error: String, means meaning: Meaning) -> ProviderResponse {
    ProviderResponse(
      "slack", situation, 200, #"{"ok":false,"error":"\#(error)"}"#, means: meaning, .documented, method)
  }

  static let slack: [ProviderResponse] = [
    ProviderResponse(
      "slack", .rotated, 200,
      #"{"ok":true,"access_token":"{access}","expires_in":43200,"refresh_token":"{refresh}","token_type":"bot","scope":"commands,chat:write","bot_user_id":"U0KRQLJ9H","app_id":"A0KRD7HC3","team":{"name":"Example","id":"T9TK3CUKW"},"enterprise":null}"#,
      means: .grant(rotated: true, seconds: 43200), .documented, rotation),
    ProviderResponse(
      "slack", .rotated, 200,
      #"{"ok":true,"app_id":"A0KRD7HC3","authed_user":{"id":"{user}","scope":"chat:write","access_token":"{access}","token_type":"user","refresh_token":"{refresh}","expires_in":43200},"team":{"id":"T9TK3CUKW"}}"#,
      means: .grant(rotated: true, seconds: 43200), .documented, method),
    ProviderResponse(
      "slack", .refused, 200, #"{"ok":false,"error":"invalid_refresh_token"}"#, means: .ends, .seen,
      "https://github.com/slackapi/bolt-python/issues/685"),
    refusal(.refused, "token_revoked", means: .ends), refusal(.refused, "token_expired", means: .ends),
    refusal(.disabled, "account_inactive", means: .endsDisabled),
    refusal(.client, "bad_client_secret", means: .misconfigured),
    refusal(.client, "invalid_client_id", means: .misconfigured),
    refusal(.client, "invalid_grant_type", means: .misconfigured),
    refusal(.interaction, "access_denied", means: .unclear),
    refusal(.interaction, "team_access_not_granted", means: .unclear),
    refusal(.limited, "ratelimited", means: .unavailable), refusal(.broken, "internal_error", means: .unavailable),
    refusal(.broken, "fatal_error", means: .unavailable), refusal(.broken, "service_unavailable", means: .unavailable),
    ProviderResponse(
      "slack", .limited, 429, #"{"ok":false,"error":"ratelimited"}"#, headers: ["Retry-After": "30"],
      means: .unavailable, .documented, "https://docs.slack.dev/apis/web-api/rate-limits"),
  ]
}
