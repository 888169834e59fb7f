extension ProviderResponse {
  private static let api = "https://docs.gitlab.com/api/oauth2/"

  static let gitlab: [ProviderResponse] = [
    ProviderResponse(
      "gitlab", .rotated, 200,
      #"{"access_token":"{access}","token_type":"bearer","expires_in":7200,"refresh_token":"{refresh}","created_at":1607635748}"#,
      means: .grant(rotated: true, seconds: 7200), .documented, api),
    ProviderResponse(
      "gitlab", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."}"#,
      means: .ends, .seen, "https://github.com/Dynatrace/ace-box/issues/580"),
    ProviderResponse(
      "gitlab", .client, 401,
      #"{"error":"invalid_client","error_description":"Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."}"#,
      means: .misconfigured, .documented, api),
    ProviderResponse(
      "gitlab", .limited, 429, "Retry later\n", type: "text/plain", headers: ["Retry-After": "30"],
      means: .unavailable, .documented, "https://docs.gitlab.com/security/rate_limits/"),
    ProviderResponse(
      "gitlab", .broken, 502, "<!DOCTYPE html><html><head><title>GitLab is not responding (502)</title></head></html>",
      type: "text/html", means: .unavailable, .documented,
      "https://docs.gitlab.com/administration/reference_architectures/troubleshooting/"),
  ]
}
