/// The responses of providers that write RFC 6749 in a way of their own, by name.
extension ProviderResponse {
  static let dialects: [ProviderResponse] = ebay

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
}
