/// The responses of providers with their own dialect of RFC 6749, by name.
extension ProviderResponse {
  static let dialects: [ProviderResponse] = ebay + gitea("forgejo") + gitea("gitea") + withings + zoho

  private static let ebayRefresh = "https://developer.ebay.com/api-docs/static/oauth-refresh-token-request.html"

  private static let ebay: [ProviderResponse] = [
    ProviderResponse(
      "ebay", .renewed, 200, #"{"access_token":"{access}","expires_in":7200,"token_type":"User Access Token"}"#,
      means: .grant(rotated: false, seconds: 7200), .documented, ebayRefresh),
    ProviderResponse(
      "ebay", .renewed, 200, #"{"access_token":"{access}","expires_in":7200,"token_type":"Application Access Token"}"#,
      means: .grant(rotated: false, seconds: 7200), .documented,
      "https://developer.ebay.com/api-docs/static/oauth-client-credentials-grant.html"),
    ProviderResponse(
      "ebay", .refused, 400,
      #"{"error":"invalid_grant","error_description":"the provided authorization refresh token is invalid or was issued to another client"}"#,
      means: .ends, .seen, "https://github.com/matecsaj/ebay_rest/issues/35"),
    ProviderResponse(
      "ebay", .client, 401, #"{"error":"invalid_client","error_description":"client authentication failed"}"#,
      means: .misconfigured, .seen, "https://github.com/timotheus/ebaysdk-python/pull/369"),
  ]

  private static func gitea(_ name: String) -> [ProviderResponse] {
    let source =
      name == "gitea"
      ? "https://github.com/go-gitea/gitea/blob/046f7a02815879a045d016887e8002fdbd252e5b/routers/web/auth/oauth2_provider.go"
      : "https://codeberg.org/forgejo/forgejo/src/branch/forgejo/routers/web/auth/oauth.go"
    func refusal(
      _ situation: Situation, _ code: String, _ description: String, means meaning: Meaning
    ) -> ProviderResponse {
      ProviderResponse(
        name, situation, 400, #"{"error":"\#(code)","error_description":"\#(description)"}"#, means: meaning,
        .documented, source)
    }
    return [
      ProviderResponse(
        name, .rotated, 200,
        #"{"access_token":"{access}","token_type":"bearer","expires_in":3600,"refresh_token":"{refresh}"}"#,
        means: .grant(rotated: true, seconds: 3600), .documented, source),
      refusal(.refused, "unauthorized_client", "token was already used", means: .ends),
      refusal(.refused, "unauthorized_client", "unable to parse refresh token", means: .ends),
      refusal(.refused, "invalid_grant", "grant does not exist", means: .ends),
      refusal(.client, "invalid_client", "invalid client secret", means: .misconfigured),
      refusal(.client, "unauthorized_client", "client is not authorized", means: .misconfigured),
      refusal(
        .client, "unsupported_grant_type", "Only refresh_token or authorization_code grant type is supported",
        means: .misconfigured),
    ]
  }

  private static let withingsFAQ = "https://developer.withings.com/developer-guide/faq/faq/"

  private static let withings: [ProviderResponse] = [
    ProviderResponse(
      "withings", .rotated, 200,
      #"{"status":0,"body":{"userid":"{user}","access_token":"{access}","refresh_token":"{refresh}","expires_in":10800,"scope":"user.activity,user.metrics","csrf_token":"PACnnxwHTaBQOGIVtXmzmBqVyuTcizMe","token_type":"Bearer"}}"#,
      means: .grant(rotated: true, seconds: 10800), .documented,
      "https://support.withings.com/hc/en-us/articles/360016745358"),
    ProviderResponse(
      "withings", .refused, 200, #"{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}"#,
      means: .ends, .documented, withingsFAQ),
    ProviderResponse(
      "withings", .client, 200, #"{"status":503,"body":{},"error":"Invalid_params: invalid grant_type"}"#,
      means: .misconfigured, .documented, withingsFAQ),
    ProviderResponse(
      "withings", .broken, 200,
      #"{"status":401,"body":{},"error":"XRequestID: Not provided invalid_token: The access token provided is invalid"}"#,
      means: .unclear, .seen,
      "https://git.skyforest.net/jlobbes/ba-thesis/src/commit/84534b51f2e8b23943cd22cc542213d2138bce68/app/withings"),
    ProviderResponse(
      "withings", .limited, 200, #"{"status":601,"body":{},"error":"Too Many Requests"}"#, means: .unavailable, .seen,
      "https://github.com/jaroslawhartman/withings-sync/issues/237"),
  ]

  private static let zoho: [ProviderResponse] = [
    ProviderResponse(
      "zoho", .renewed, 200,
      #"{"access_token":"{access}","expires_in_sec":3600,"api_domain":"https://writer.zoho.com","token_type":"Bearer","expires_in":3600000}"#,
      means: .grant(rotated: false, seconds: 3600), .documented,
      "https://zoho.com.cn/writer/help/api/v1/oauth-step4.html"),
    ProviderResponse(
      "zoho", .renewed, 200,
      #"{"access_token":"{access}","expires_in":3600,"api_domain":"https://www.zohoapis.com","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented,
      "https://zoho.com/recruit/developer-guide/apiv2/refresh.html"),
    ProviderResponse(
      "zoho", .refused, 200, #"{"error":"invalid_code"}"#, means: .ends, .seen,
      "https://github.com/schmorrison/Zoho/pull/18"),
    ProviderResponse(
      "zoho", .client, 200, #"{"error":"invalid_client"}"#, means: .misconfigured, .documented,
      "https://help.zoho.com/portal/en/community/topic/kaizen-4-troubleshooting-oauth2-0"),
    ProviderResponse(
      "zoho", .client, 200, #"{"error":"invalid_client_secret"}"#, means: .misconfigured, .documented,
      "https://help.zoho.com/portal/en/community/topic/kaizen-4-troubleshooting-oauth2-0"),
  ]
}
