/// The responses of providers whose presets name the endpoints, by provider.
extension ProviderResponse {
  static let oauthProviders: [ProviderResponse] =
    amazon + apple + atlassian + discord + dropbox + github + hubspot + linkedin + slack + spotify + strava + twitch
    + zoom

  private static let amazonGuide =
    "https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html#using-refresh-tokens"

  private static let amazon: [ProviderResponse] = [
    ProviderResponse(
      "amazon", .renewed, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","token_type":"bearer","expires_in":3600}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, amazonGuide),
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
      means: .unavailable, .documented, amazonGuide),
  ]

  private static let appleTokens =
    "https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens"

  private static let apple: [ProviderResponse] = [
    ProviderResponse(
      "apple", .renewed, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"id_token":"{id}"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, appleTokens),
    ProviderResponse(
      "apple", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The token has expired or has been revoked."}"#, means: .ends,
      .documented, "https://developer.apple.com/documentation/signinwithapplerestapi/errorresponse"),
    ProviderResponse(
      "apple", .client, 400, #"{"error":"invalid_client"}"#, means: .misconfigured, .seen,
      "https://github.com/mikebronner/laravel-sign-in-with-apple/issues/9"),
    ProviderResponse(
      "apple", .client, 400, #"{"error":"unauthorized_client"}"#, means: .misconfigured, .documented,
      "https://developer.apple.com/documentation/signinwithapplerestapi/errorresponse"),
  ]

  private static let atlassianGuide = "https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/"

  private static let atlassian: [ProviderResponse] = [
    ProviderResponse(
      "atlassian", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","expires_in":3600,"scope":"read:jira-work offline_access"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, atlassianGuide),
    ProviderResponse(
      "atlassian", .refused, 403, #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#,
      means: .ends, .documented, atlassianGuide),
    ProviderResponse(
      "atlassian", .refused, 403,
      #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#, means: .ends, .seen,
      "https://nango.dev/blog/jira-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "atlassian", .client, 401, #"{"error":"access_denied","error_description":"Unauthorized"}"#,
      means: .misconfigured,
      .documented, atlassianGuide),
    ProviderResponse(
      "atlassian", .limited, 429, #"{"code":429,"message":"Rate limit exceeded"}"#, headers: ["Retry-After": "10"],
      means: .unavailable, .documented, "https://developer.atlassian.com/cloud/jira/platform/rate-limiting/"),
  ]

  private static let discordGuide = "https://discord.com/developers/docs/topics/oauth2"

  private static let discord: [ProviderResponse] = [
    ProviderResponse(
      "discord", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":604800,"refresh_token":"{refresh}","scope":"identify"}"#,
      means: .grant(rotated: true, seconds: 604_800), .documented, discordGuide),
    ProviderResponse(
      "discord", .refused, 400, #"{"error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/discord/discord-api-docs/issues/1650"),
    ProviderResponse(
      "discord", .client, 401, #"{"error":"invalid_client"}"#, means: .misconfigured, .documented, discordGuide),
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

  private static let dropboxReference =
    "https://www.dropbox.com/developers/documentation/http/documentation#oauth2-token"

  private static let dropbox: [ProviderResponse] = [
    ProviderResponse(
      "dropbox", .renewed, 200, #"{"access_token":"{access}","expires_in":14400,"token_type":"bearer"}"#,
      means: .grant(rotated: false, seconds: 14400), .documented, dropboxReference),
    ProviderResponse(
      "dropbox", .refused, 400,
      #"{"error":"invalid_grant","error_description":"refresh token is invalid or revoked"}"#, means: .ends, .seen,
      "https://github.com/dropbox/dropbox-sdk-dotnet/issues/373"),
    ProviderResponse(
      "dropbox", .refused, 400, #"{"error":"invalid_grant","error_description":"refresh token is malformed"}"#,
      means: .ends, .seen, "https://github.com/boly38/node-mongotools/issues/94"),
    ProviderResponse(
      "dropbox", .client, 400, #"{"error":"invalid_client: Invalid client_id or client_secret"}"#,
      means: .misconfigured, .seen,
      "https://github.com/dropbox/dropbox-sdk-python/pull/544"),
    ProviderResponse(
      "dropbox", .limited, 429, #"{"error":{"reason":{".tag":"too_many_requests"}}}"#, headers: ["Retry-After": "15"],
      means: .unavailable, .documented, "https://developers.dropbox.com/error-handling-guide"),
  ]

  private static let githubRefreshing =
    "https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens"
  private static let githubTroubles =
    "https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors"

  private static let github: [ProviderResponse] = [
    ProviderResponse(
      "github", .rotated, 200,
      #"{"access_token":"{access}","expires_in":28800,"refresh_token":"{refresh}","refresh_token_expires_in":15897600,"scope":"","token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 28800), .documented, githubRefreshing),
    ProviderResponse(
      "github", .rotated, 200,
      #"{"access_token":"{access}","expires_in":"28800","refresh_token":"{refresh}","refresh_token_expires_in":"15811200","scope":"","token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 28800), .documented,
      "https://developer.github.com/changes/2020-04-30-expiring-user-to-server-access-tokens-for-github-apps"),
    ProviderResponse(
      "github", .rotated, 200,
      "access_token={access}&expires_in=28800&refresh_token={refresh}&refresh_token_expires_in=15897600&scope=&token_type=bearer",
      type: "application/x-www-form-urlencoded; charset=utf-8", means: .grant(rotated: true, seconds: 28800),
      .documented, githubRefreshing),
    ProviderResponse(
      "github", .refused, 200,
      #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired.","error_uri":"https://docs.github.com/"}"#,
      means: .ends, .seen, "https://www.nango.dev/blog/github-app-oauth-refresh-token-bad-refresh-token"),
    ProviderResponse(
      "github", .refused, 200,
      "error=bad_refresh_token&error_description=The+refresh+token+passed+is+incorrect+or+expired.",
      type: "application/x-www-form-urlencoded; charset=utf-8", means: .ends, .documented, githubRefreshing),
    ProviderResponse(
      "github", .client, 200,
      #"{"error":"incorrect_client_credentials","error_description":"The client_id and/or client_secret passed are incorrect."}"#,
      means: .misconfigured, .documented, githubTroubles),
    ProviderResponse(
      "github", .interaction, 200,
      #"{"error":"unverified_user_email","error_description":"The user must have a verified primary email."}"#,
      means: .unclear, .documented, githubTroubles),
    ProviderResponse(
      "github", .client, 404, #"{"error":"Not Found"}"#, means: .misconfigured, .documented, githubTroubles),
    ProviderResponse(
      "github", .limited, 429, "Too Many Requests", type: "text/plain", headers: ["Retry-After": "60"],
      means: .unavailable, .documented,
      "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"),
  ]

  private static let hubspotGuide = "https://developers.hubspot.com/docs/api-reference/auth-oauth-v3/guide"

  private static let hubspot: [ProviderResponse] = [
    ProviderResponse(
      "hubspot", .renewed, 200,
      #"{"token_type":"bearer","refresh_token":"{refresh}","access_token":"{access}","hub_id":1234567,"expires_in":1800}"#,
      means: .grant(rotated: true, seconds: 1800), .documented, hubspotGuide),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token","correlationId":"6356f281-f9bb-4454-926e-516aaac0104f"}"#,
      means: .ends, .seen, "https://github.com/airbytehq/airbyte/issues/79592"),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"error":"invalid_grant","error_description":"refresh token is invalid, expired or revoked","status":"BAD_REFRESH_TOKEN","message":"refresh token is invalid, expired or revoked"}"#,
      means: .ends, .documented, hubspotGuide),
    ProviderResponse(
      "hubspot", .refused, 400,
      #"{"status":"BAD_REFRESH_TOKEN","error":"invalid_request","message":"missing or unknown refresh token"}"#,
      means: .ends, .seen, "https://github.com/supaglue-labs/supaglue/pull/1935"),
    ProviderResponse(
      "hubspot", .client, 400, #"{"status":"BAD_CLIENT_ID","message":"missing or unknown client id"}"#,
      means: .misconfigured, .documented, hubspotGuide),
    ProviderResponse(
      "hubspot", .limited, 429,
      #"{"status":"error","message":"You have reached your secondly limit.","errorType":"RATE_LIMIT","policyName":"SECONDLY"}"#,
      means: .unavailable, .documented,
      "https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines"),
  ]

  private static let linkedinGuide =
    "https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens"

  private static let linkedin: [ProviderResponse] = [
    ProviderResponse(
      "linkedin", .renewed, 200,
      #"{"access_token":"{access}","expires_in":5184000,"refresh_token":"{refresh}","refresh_token_expires_in":439200}"#,
      means: .grant(rotated: true, seconds: 5_184_000), .documented, linkedinGuide),
    ProviderResponse(
      "linkedin", .refused, 400,
      #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, means: .ends, .seen,
      "https://nango.dev/blog/linkedin-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "linkedin", .client, 401, #"{"error":"invalid_client","error_description":"Client authentication failed"}"#,
      means: .misconfigured, .documented,
      "https://learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow"),
    ProviderResponse(
      "linkedin", .limited, 429, #"{"serviceErrorCode":101,"message":"Throttle limit reached","status":429}"#,
      means: .unavailable, .documented, "https://learn.microsoft.com/linkedin/shared/api-guide/concepts/rate-limits"),
  ]

  private static let slackRotation = "https://docs.slack.dev/authentication/using-token-rotation"
  private static let slackMethod = "https://docs.slack.dev/reference/methods/oauth.v2.access"

  private static func slackRefusal(_ situation: Situation, _ error: String, means meaning: Meaning) -> ProviderResponse
  {
    ProviderResponse(
      "slack", situation, 200, #"{"ok":false,"error":"\#(error)"}"#, means: meaning, .documented, slackMethod)
  }

  private static let slack: [ProviderResponse] = [
    ProviderResponse(
      "slack", .rotated, 200,
      #"{"ok":true,"access_token":"{access}","expires_in":43200,"refresh_token":"{refresh}","token_type":"bot","scope":"commands,chat:write","bot_user_id":"U0KRQLJ9H","app_id":"A0KRD7HC3","team":{"name":"Example","id":"T9TK3CUKW"},"enterprise":null}"#,
      means: .grant(rotated: true, seconds: 43200), .documented, slackRotation),
    ProviderResponse(
      "slack", .rotated, 200,
      #"{"ok":true,"app_id":"A0KRD7HC3","authed_user":{"id":"{user}","scope":"chat:write","access_token":"{access}","token_type":"user","refresh_token":"{refresh}","expires_in":43200},"team":{"id":"T9TK3CUKW"}}"#,
      means: .grant(rotated: true, seconds: 43200), .documented, slackMethod),
    ProviderResponse(
      "slack", .refused, 200, #"{"ok":false,"error":"invalid_refresh_token"}"#, means: .ends, .seen,
      "https://github.com/slackapi/bolt-python/issues/685"),
    slackRefusal(.refused, "token_revoked", means: .ends), slackRefusal(.refused, "token_expired", means: .ends),
    slackRefusal(.disabled, "account_inactive", means: .endsDisabled),
    slackRefusal(.client, "bad_client_secret", means: .misconfigured),
    slackRefusal(.client, "invalid_client_id", means: .misconfigured),
    slackRefusal(.client, "invalid_grant_type", means: .misconfigured),
    slackRefusal(.interaction, "access_denied", means: .unclear),
    slackRefusal(.interaction, "team_access_not_granted", means: .unclear),
    slackRefusal(.limited, "ratelimited", means: .unavailable),
    slackRefusal(.broken, "internal_error", means: .unavailable),
    slackRefusal(.broken, "fatal_error", means: .unavailable),
    slackRefusal(.broken, "service_unavailable", means: .unavailable),
    ProviderResponse(
      "slack", .limited, 429, #"{"ok":false,"error":"ratelimited"}"#, headers: ["Retry-After": "30"],
      means: .unavailable, .documented, "https://docs.slack.dev/apis/web-api/rate-limits"),
  ]

  private static let spotifyGuide = "https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens"

  private static let spotify: [ProviderResponse] = [
    ProviderResponse(
      "spotify", .renewed, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"scope":"user-read-email"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, spotifyGuide),
    ProviderResponse(
      "spotify", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"refresh_token":"{refresh}","scope":"user-read-email"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, spotifyGuide),
    ProviderResponse(
      "spotify", .refused, 400, #"{"error":"invalid_grant","error_description":"Refresh token revoked"}"#, means: .ends,
      .seen, "https://github.com/novatorem/novatorem/issues/81"),
    ProviderResponse(
      "spotify", .refused, 400, #"{"error":"invalid_grant","error_description":"Invalid refresh token"}"#, means: .ends,
      .seen, "https://github.com/novatorem/novatorem/issues/74"),
    ProviderResponse(
      "spotify", .client, 400, #"{"error":"invalid_client","error_description":"Invalid client secret"}"#,
      means: .misconfigured, .documented, spotifyGuide),
    ProviderResponse(
      "spotify", .broken, 503, #"{"error":"server_error","error_description":"Service temporarily unavailable"}"#,
      means: .unavailable, .documented, "https://developer.spotify.com/documentation/web-api/concepts/api-calls"),
  ]

  private static let stravaGuide = "https://developers.strava.com/docs/authentication/"

  private static func stravaRefusal(_ resource: String, _ field: String) -> String {
    #"{"message":"Bad Request","errors":[{"resource":"\#(resource)","field":"\#(field)","code":"invalid"}]}"#
  }

  private static let strava: [ProviderResponse] = [
    ProviderResponse(
      "strava", .rotated, 200,
      #"{"token_type":"Bearer","access_token":"{access}","expires_at":1568775134,"expires_in":20566,"refresh_token":"{refresh}"}"#,
      means: .grant(rotated: true, seconds: 20566), .documented, stravaGuide),
    ProviderResponse(
      "strava", .refused, 400, stravaRefusal("RefreshToken", "refresh_token"), means: .ends, .seen,
      "https://github.com/dreeveapp/dreeve/issues/1449"),
    ProviderResponse(
      "strava", .client, 400, stravaRefusal("Application", "client_id"), means: .misconfigured, .documented, stravaGuide
    ),
    ProviderResponse(
      "strava", .limited, 429,
      #"{"message":"Rate Limit Exceeded","errors":[{"resource":"Application","field":"rate limit","code":"exceeded"}]}"#,
      means: .unavailable, .documented, "https://developers.strava.com/docs/rate-limits/"),
  ]

  private static let twitchGuide = "https://dev.twitch.tv/docs/authentication/refresh-tokens/"

  private static let twitch: [ProviderResponse] = [
    ProviderResponse(
      "twitch", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","scope":["channel:read:subscriptions","channel:manage:polls"],"token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: nil), .documented, twitchGuide),
    ProviderResponse(
      "twitch", .rotated, 200,
      #"{"access_token":"{access}","expires_in":14542,"refresh_token":"{refresh}","scope":["user:read:email"],"token_type":"bearer"}"#,
      means: .grant(rotated: true, seconds: 14542), .seen, "https://github.com/twitchdev/issues/issues/1037"),
    ProviderResponse(
      "twitch", .refused, 400, #"{"status":400,"message":"Invalid refresh token"}"#, means: .ends, .seen,
      "https://github.com/Teekeks/pyTwitchAPI/issues/37"),
    ProviderResponse(
      "twitch", .refused, 401, #"{"error":"Unauthorized","status":401,"message":"Invalid refresh token"}"#,
      means: .ends, .documented, twitchGuide),
    ProviderResponse(
      "twitch", .refused, 400, #"{"status":400,"message":"Invalid grant"}"#, means: .ends, .seen,
      "https://github.com/twitchdev/issues/issues/1042"),
    ProviderResponse(
      "twitch", .client, 403, #"{"status":403,"message":"invalid client secret"}"#, means: .misconfigured, .documented,
      twitchGuide),
    ProviderResponse(
      "twitch", .client, 400, #"{"status":400,"message":"missing client secret"}"#, means: .misconfigured, .documented,
      twitchGuide),
    ProviderResponse(
      "twitch", .client, 404, "404 page not found", type: "text/plain", means: .misconfigured, .seen,
      "https://github.com/twitchdev/issues/issues/862"),
  ]

  private static let zoomGuide = "https://developers.zoom.us/docs/integrations/oauth/"

  private static let zoom: [ProviderResponse] = [
    ProviderResponse(
      "zoom", .rotated, 200,
      #"{"access_token":"{access}","token_type":"bearer","refresh_token":"{refresh}","expires_in":3599,"scope":"user:read:user","api_url":"https://api.zoom.us"}"#,
      means: .grant(rotated: true, seconds: 3599), .documented, zoomGuide),
    ProviderResponse(
      "zoom", .refused, 400, #"{"reason":"Invalid Token!","error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/raycast/extensions/issues/10896"),
    ProviderResponse(
      "zoom", .refused, 401, #"{"reason":"Invalid Token!","error":"invalid_request"}"#, means: .ends, .seen,
      "https://github.com/tl-its-umich-edu/remote-office-hours-queue/issues/363"),
    ProviderResponse(
      "zoom", .client, 400, #"{"reason":"Invalid client_id or client_secret","error":"invalid_client"}"#,
      means: .misconfigured, .documented, zoomGuide),
    ProviderResponse(
      "zoom", .limited, 429, #"{"code":429,"message":"You have reached the maximum per-second rate limit."}"#,
      means: .unavailable, .documented, "https://developers.zoom.us/docs/api/rate-limits/"),
  ]
}
