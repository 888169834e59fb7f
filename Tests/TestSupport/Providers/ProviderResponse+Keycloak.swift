extension ProviderResponse {
  private static let guide = "https://www.keycloak.org/docs/latest/server_admin/#_timeouts"

  static let keycloak: [ProviderResponse] = [
    ProviderResponse(
      "keycloak", .rotated, 200,
      #"{"access_token":"{access}","expires_in":300,"refresh_expires_in":1800,"refresh_token":"{refresh}","token_type":"Bearer","id_token":"{id}","not-before-policy":0,"session_state":"8c9a1d0e","scope":"openid profile email"}"#,
      means: .grant(rotated: true, seconds: 300), .documented, guide),
    ProviderResponse(
      "keycloak", .rotated, 200,
      #"{"access_token":"{access}","expires_in":300,"refresh_expires_in":0,"refresh_token":"{refresh}","token_type":"Bearer","scope":"openid offline_access"}"#,
      means: .grant(rotated: true, seconds: 300), .documented, guide),
    ProviderResponse(
      "keycloak", .refused, 400, #"{"error":"invalid_grant","error_description":"Token is not active"}"#, means: .ends,
      .seen, "https://github.com/mauriciovigolo/keycloak-angular/issues/564"),
    ProviderResponse(
      "keycloak", .refused, 400, #"{"error":"invalid_grant","error_description":"Stale refresh token"}"#, means: .ends,
      .seen, "https://github.com/marcospereirampj/python-keycloak/issues/53"),
    ProviderResponse(
      "keycloak", .refused, 400, #"{"error":"invalid_grant","error_description":"Offline user session not found"}"#,
      means: .ends, .seen, "https://github.com/keycloak/keycloak/issues/26532"),
    ProviderResponse(
      "keycloak", .refused, 400,
      #"{"error":"invalid_grant","error_description":"Session doesn't have required client"}"#, means: .ends, .seen,
      "https://github.com/keycloak/keycloak/issues/9959"),
    ProviderResponse(
      "keycloak", .disabled, 400, #"{"error":"invalid_grant","error_description":"User disabled"}"#,
      means: .endsDisabled, .documented,
      "https://github.com/keycloak/keycloak/blob/main/services/src/main/java/org/keycloak/protocol/oidc/TokenManager.java"
    ),
    ProviderResponse(
      "keycloak", .client, 401,
      #"{"error":"unauthorized_client","error_description":"Invalid client or Invalid client credentials"}"#,
      means: .misconfigured, .documented,
      "https://github.com/keycloak/keycloak/blob/main/services/src/main/java/org/keycloak/protocol/oidc/TokenManager.java"
    ),
    ProviderResponse(
      "keycloak", .broken, 503, "<html><body><h1>Service Unavailable</h1></body></html>", type: "text/html",
      means: .unavailable, .documented, guide),
  ]
}
