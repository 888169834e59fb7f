/// The responses of providers with discovery, by provider.
extension ProviderResponse {
  static let openIDProviders: [ProviderResponse] =
    auth0 + cognito + gitlab + google + indigoIAM + keycloak + microsoft + okta + salesforce

  private static let auth0Tokens = "https://auth0.com/docs/secure/tokens/refresh-tokens/use-refresh-tokens"

  private static let auth0: [ProviderResponse] = [
    ProviderResponse(
      "auth0", .renewed, 200,
      #"{"access_token":"{access}","expires_in":86400,"scope":"openid offline_access","id_token":"{id}","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 86400), .documented, auth0Tokens),
    ProviderResponse(
      "auth0", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","id_token":"{id}","scope":"openid offline_access","expires_in":86400,"token_type":"Bearer"}"#,
      means: .grant(rotated: true, seconds: 86400), .documented,
      "https://auth0.com/docs/secure/tokens/refresh-tokens/refresh-token-rotation"),
    ProviderResponse(
      "auth0", .refused, 403,
      #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#, means: .ends, .seen,
      "https://github.com/auth0/Auth0.swift/issues/819"),
    ProviderResponse(
      "auth0", .disabled, 403, #"{"error":"invalid_grant","error_description":"user is blocked"}"#,
      means: .endsDisabled, .seen, "https://github.com/ionic-team/demo-authconnect-auth0/issues/4"),
    ProviderResponse(
      "auth0", .interaction, 403,
      #"{"error":"mfa_required","error_description":"Multifactor authentication required","mfa_token":"{access}"}"#,
      means: .unclear, .documented,
      "https://auth0.com/docs/secure/multi-factor-authentication/authenticate-using-ropg-flow-with-mfa"),
    ProviderResponse(
      "auth0", .client, 401, #"{"error":"access_denied","error_description":"Unauthorized"}"#, means: .misconfigured,
      .documented, auth0Tokens),
    ProviderResponse(
      "auth0", .interaction, 403, #"{"error":"access_denied","error_description":"Access from here is not allowed."}"#,
      means: .unclear, .documented,
      "https://auth0.com/docs/customize/actions/explore-triggers/signup-and-login-triggers/login-trigger"),
    ProviderResponse(
      "auth0", .client, 403,
      #"{"error":"unauthorized_client","error_description":"Grant type 'refresh_token' not allowed for the client."}"#,
      means: .misconfigured, .documented, auth0Tokens),
    ProviderResponse(
      "auth0", .limited, 429, #"{"error":"too_many_requests","error_description":"Global limit has been reached"}"#,
      headers: ["x-ratelimit-remaining": "0"], means: .unavailable, .documented,
      "https://auth0.com/docs/troubleshoot/customer-support/operational-policies/rate-limit-policy"),
  ]

  private static let cognitoGuide = "https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html"

  private static let cognito: [ProviderResponse] = [
    ProviderResponse(
      "cognito", .renewed, 200,
      #"{"access_token":"{access}","id_token":"{id}","token_type":"Bearer","expires_in":3600}"#,
      means: .grant(rotated: false, seconds: 3600), .documented, cognitoGuide),
    ProviderResponse(
      "cognito", .rotated, 200,
      #"{"access_token":"{access}","refresh_token":"{refresh}","id_token":"{id}","token_type":"Bearer","expires_in":3600}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, cognitoGuide),
    ProviderResponse(
      "cognito", .refused, 400, #"{"error":"invalid_grant"}"#, means: .ends, .seen,
      "https://github.com/aws/aws-sdk-js/issues/3836"),
    ProviderResponse(
      "cognito", .client, 400, #"{"error":"invalid_client"}"#, means: .misconfigured, .seen,
      "https://github.com/amazon-archives/amazon-cognito-auth-js/issues/116"),
    ProviderResponse(
      "cognito", .client, 400, #"{"error":"unauthorized_client"}"#, means: .misconfigured, .documented, cognitoGuide),
    ProviderResponse(
      "cognito", .gateway, 403, #"{"message":"Forbidden"}"#, means: .unclear, .documented,
      "https://docs.aws.amazon.com/cognito/latest/developerguide/user-pool-waf.html"),
    ProviderResponse(
      "cognito", .limited, 429, #"{"message":"Rate exceeded"}"#, means: .unavailable, .documented,
      "https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html"),
  ]

  private static let gitlabAPI = "https://docs.gitlab.com/api/oauth2/"

  private static let gitlab: [ProviderResponse] = [
    ProviderResponse(
      "gitlab", .rotated, 200,
      #"{"access_token":"{access}","token_type":"bearer","expires_in":7200,"refresh_token":"{refresh}","created_at":1607635748}"#,
      means: .grant(rotated: true, seconds: 7200), .documented, gitlabAPI),
    ProviderResponse(
      "gitlab", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."}"#,
      means: .ends, .seen, "https://github.com/Dynatrace/ace-box/issues/580"),
    ProviderResponse(
      "gitlab", .client, 401,
      #"{"error":"invalid_client","error_description":"Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."}"#,
      means: .misconfigured, .documented, gitlabAPI),
    ProviderResponse(
      "gitlab", .limited, 429, "Retry later\n", type: "text/plain", headers: ["Retry-After": "30"],
      means: .unavailable, .documented, "https://docs.gitlab.com/security/rate_limits/"),
    ProviderResponse(
      "gitlab", .broken, 502, "<!DOCTYPE html><html><head><title>GitLab is not responding (502)</title></head></html>",
      type: "text/html", means: .unavailable, .documented,
      "https://docs.gitlab.com/administration/reference_architectures/troubleshooting/"),
  ]

  private static let googleGuide = "https://developers.google.com/identity/protocols/oauth2/web-server#offline"

  private static let google: [ProviderResponse] = [
    ProviderResponse(
      "google", .renewed, 200,
      #"{"access_token":"{access}","expires_in":3920,"scope":"https://www.googleapis.com/auth/drive.metadata.readonly","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 3920), .documented, googleGuide),
    ProviderResponse(
      "google", .renewed, 200,
      #"{"access_token":"{access}","expires_in":3599,"refresh_token_expires_in":604799,"scope":"openid","token_type":"Bearer"}"#,
      means: .grant(rotated: false, seconds: 3599), .documented,
      "https://developers.google.com/identity/protocols/oauth2#expiration"),
    ProviderResponse(
      "google", .refused, 400,
      #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, means: .ends, .seen,
      "https://github.com/googleapis/google-api-php-client/issues/2266"),
    ProviderResponse(
      "google", .refused, 400, #"{"error":"invalid_grant","error_description":"Bad Request"}"#, means: .ends, .seen,
      "https://github.com/nextcloud/server/issues/40863"),
    ProviderResponse(
      "google", .interaction, 400,
      #"{"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)","error_subtype":"invalid_rapt"}"#,
      means: .ends, .seen, "https://github.com/googleapis/google-auth-library-nodejs/issues/1961"),
    ProviderResponse(
      "google", .client, 401, #"{"error":"deleted_client","error_description":"The OAuth client was deleted."}"#,
      means: .misconfigured, .seen, "https://github.com/xyou365/AutoRclone/issues/98"),
    ProviderResponse(
      "google", .client, 401, #"{"error":"invalid_client","error_description":"The OAuth client was not found."}"#,
      means: .misconfigured, .documented, googleGuide),
    ProviderResponse(
      "google", .client, 400, #"{"error":"admin_policy_enforced","error_description":"Access was blocked."}"#,
      means: .misconfigured, .documented, googleGuide),
    ProviderResponse(
      "google", .broken, 500, #"{"error":"internal_failure","error_description":"Backend Error"}"#,
      means: .unavailable, .documented, googleGuide),
  ]

  private static let mitreid =
    "https://github.com/mitreid-connect/OpenID-Connect-Java-Spring-Server/blob/master/openid-connect-server/src/main/java/org/mitre/oauth2/service/impl/DefaultOAuth2ProviderTokenService.java"

  private static let indigoIAM: [ProviderResponse] = [
    ProviderResponse(
      "indigo-iam", .renewed, 200,
      #"{"access_token":"{access}","token_type":"Bearer","refresh_token":"{refresh}","expires_in":3599,"scope":"openid offline_access","id_token":"{id}"}"#,
      means: .grant(rotated: true, seconds: 3599), .documented,
      "https://indigo-iam.github.io/v/current/docs/tasks/user/getting-a-token/"),
    ProviderResponse(
      "indigo-iam", .refused, 401,
      #"{"error":"invalid_token","error_description":"Invalid refresh token: {refresh}"}"#, means: .ends, .documented,
      mitreid),
    ProviderResponse(
      "indigo-iam", .refused, 401,
      #"{"error":"invalid_token","error_description":"Expired refresh token: {refresh}"}"#, means: .ends, .documented,
      mitreid),
    ProviderResponse(
      "indigo-iam", .client, 401, #"{"error":"invalid_client","error_description":"Bad client credentials"}"#,
      means: .misconfigured, .documented, mitreid),
  ]

  private static let keycloakGuide = "https://www.keycloak.org/docs/latest/server_admin/#_timeouts"

  private static let keycloak: [ProviderResponse] = [
    ProviderResponse(
      "keycloak", .rotated, 200,
      #"{"access_token":"{access}","expires_in":300,"refresh_expires_in":1800,"refresh_token":"{refresh}","token_type":"Bearer","id_token":"{id}","not-before-policy":0,"session_state":"8c9a1d0e","scope":"openid profile email"}"#,
      means: .grant(rotated: true, seconds: 300), .documented, keycloakGuide),
    ProviderResponse(
      "keycloak", .rotated, 200,
      #"{"access_token":"{access}","expires_in":300,"refresh_expires_in":0,"refresh_token":"{refresh}","token_type":"Bearer","scope":"openid offline_access"}"#,
      means: .grant(rotated: true, seconds: 300), .documented, keycloakGuide),
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
      means: .unavailable, .documented, keycloakGuide),
  ]

  private static let microsoftFlow =
    "https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow#refresh-the-access-token"
  private static let microsoftCodes = "https://learn.microsoft.com/entra/identity-platform/reference-error-codes"
  private static let microsoftTrace =
    #""timestamp":"2026-01-09 02:02:12Z","trace_id":"255d1aef-8c98-452f-ac51-23d051240864","correlation_id":"fb3d2015-bc17-4bb9-bb85-30c5cf1aaaa7""#

  private static func aadsts(_ error: String, _ code: Int, _ text: String) -> String {
    #"{"error":"\#(error)","error_description":"AADSTS\#(code): \#(text)\r\nTrace ID: 255d1aef-8c98-452f-ac51-23d051240864","error_codes":[\#(code)],\#(microsoftTrace)}"#
  }

  private static let microsoft: [ProviderResponse] = [
    ProviderResponse(
      "microsoft", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"scope":"https://graph.microsoft.com/mail.read","refresh_token":"{refresh}","id_token":"{id}"}"#,
      means: .grant(rotated: true, seconds: 3599), .documented, microsoftFlow),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 50173, "The provided grant has expired due to it being revoked."),
      means: .ends, .documented, microsoftCodes),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 700082, "The refresh token has expired due to inactivity."), means: .ends,
      .documented,
      microsoftCodes),
    ProviderResponse(
      "microsoft", .refused, 400,
      aadsts("invalid_grant", 9_002_313, "Invalid request. Request is malformed or invalid."), means: .ends,
      .seen,
      "https://github.com/MicrosoftDocs/azure-docs/issues/63819"),
    ProviderResponse(
      "microsoft", .disabled, 400, aadsts("invalid_grant", 50057, "The user account is disabled."),
      means: .endsDisabled, .documented, microsoftCodes),
    ProviderResponse(
      "microsoft", .interaction, 400,
      aadsts(
        "interaction_required", 50076, "You must use multi-factor authentication to access the resource."),
      means: .ends, .documented, microsoftFlow),
    ProviderResponse(
      "microsoft", .interaction, 400,
      aadsts("invalid_grant", 65001, "The user or administrator has not consented to use the application."),
      means: .ends, .documented, microsoftCodes),
    ProviderResponse(
      "microsoft", .interaction, 400,
      #"{"error":"interaction_required","error_description":"AADSTS70043: The refresh token has expired or is invalid due to sign-in frequency checks by conditional access.","error_codes":[70043],"suberror":"token_expired"}"#,
      means: .ends, .seen, "https://github.com/Azure/azure-cli/issues/23822"),
    ProviderResponse(
      "microsoft", .gateway, 400,
      aadsts(
        "invalid_grant", 53003,
        "Access has been blocked by Conditional Access policies. The access policy does not allow token issuance."),
      means: .unclear, .seen, "https://github.com/AzureAD/microsoft-identity-web/issues/2419"),
    ProviderResponse(
      "microsoft", .gateway, 400,
      aadsts("invalid_grant", 53000, "Device is not in required device state: compliant."), means: .unclear,
      .documented, microsoftCodes),
    ProviderResponse(
      "microsoft", .limited, 400,
      aadsts(
        "invalid_grant", 50196,
        "The server terminated an operation because it encountered a loop while processing a request."),
      means: .unavailable, .documented,
      "https://learn.microsoft.com/entra/msal/dotnet/acquiring-tokens/throttling"),
    ProviderResponse(
      "microsoft", .limited, 429, #"{"error":"temporarily_unavailable"}"#, headers: ["Retry-After": "60"],
      means: .unavailable, .documented, "https://learn.microsoft.com/entra/msal/dotnet/acquiring-tokens/throttling"),
    ProviderResponse(
      "microsoft", .client, 401,
      aadsts("invalid_client", 7_000_222, "The provided client secret keys for app are expired."),
      means: .misconfigured, .documented, microsoftCodes),
    ProviderResponse(
      "microsoft", .client, 400,
      aadsts("invalid_scope", 70011, "The provided value for the input parameter 'scope' is not valid."),
      means: .misconfigured, .documented, microsoftFlow),
    ProviderResponse(
      "microsoft", .broken, 400, aadsts("temporarily_unavailable", 90033, "A transient error has occurred."),
      means: .unavailable, .documented, microsoftCodes),
  ]

  private static let oktaGuide = "https://developer.okta.com/docs/guides/refresh-tokens/main/"

  private static let okta: [ProviderResponse] = [
    ProviderResponse(
      "okta", .rotated, 200,
      #"{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"scope":"openid offline_access","refresh_token":"{refresh}","id_token":"{id}"}"#,
      means: .grant(rotated: true, seconds: 3600), .documented, oktaGuide),
    ProviderResponse(
      "okta", .refused, 400,
      #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#, means: .ends, .seen,
      "https://support.okta.com/help/s/article/okta-refresh-token-invalid-or-expired-error-error-invalid-grant-error-description-the-refresh-token-is-invalid-or-expired"
    ),
    ProviderResponse(
      "okta", .client, 401,
      #"{"errorCode":"invalid_client","errorSummary":"Invalid value for 'client_id' parameter.","errorLink":"invalid_client","errorId":"oae5uj8XJ1rTLyNlVbXnBjk9w","errorCauses":[]}"#,
      means: .misconfigured, .documented, "https://developer.okta.com/docs/reference/error-codes/"),
    ProviderResponse(
      "okta", .interaction, 400,
      #"{"error":"access_denied","error_description":"The resource owner or authorization server denied the request."}"#,
      means: .unclear, .documented, "https://developer.okta.com/docs/reference/error-codes/"),
    ProviderResponse(
      "okta", .limited, 429,
      #"{"errorCode":"E0000047","errorSummary":"API call exceeded rate limit due to too many requests.","errorLink":"E0000047","errorId":"oae5uj8XJ1rTLyNlVbXnBjk9w","errorCauses":[]}"#,
      headers: ["X-Rate-Limit-Remaining": "0"], means: .unavailable, .documented,
      "https://developer.okta.com/docs/reference/rl-best-practices/"),
    ProviderResponse(
      "okta", .broken, 500, #"{"errorCode":"E0000009","errorSummary":"Internal Server Error"}"#, means: .unavailable,
      .documented, "https://developer.okta.com/docs/reference/error-codes/"),
  ]

  private static let salesforceFlow =
    "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_refresh_token_flow.htm"
  private static let salesforceErrors =
    "https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_flow_errors.htm"

  private static let salesforce: [ProviderResponse] = [
    ProviderResponse(
      "salesforce", .renewed, 200,
      #"{"id":"https://login.salesforce.com/id/00Dx0000000BV7z/005x00000012Q9P","issued_at":"1278448384422","instance_url":"https://example.my.salesforce.com","signature":"SSSbLO/gBhmmyNUvN18ODBDFYHzakxOMgqYtu+hDPsc=","access_token":"{access}","token_type":"Bearer","scope":"id api refresh_token"}"#,
      means: .grant(rotated: false, seconds: 3600), .documented,
      "https://developer.salesforce.com/docs/atlas.en-us.218.0.api_rest.meta/api_rest/intro_understanding_refresh_token_oauth.htm"
    ),
    ProviderResponse(
      "salesforce", .refused, 400,
      #"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#, means: .ends, .seen,
      "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .refused, 400, #"{"error":"invalid_grant","error_description":"authentication failure"}"#,
      means: .ends, .seen, "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .gateway, 400,
      #"{"error":"invalid_grant","error_description":"ip restricted or invalid login hours"}"#, means: .unclear,
      .documented, salesforceErrors),
    ProviderResponse(
      "salesforce", .disabled, 400, #"{"error":"inactive_user","error_description":"user is inactive"}"#,
      means: .endsDisabled, .documented, salesforceErrors),
    ProviderResponse(
      "salesforce", .disabled, 400, #"{"error":"inactive_org","error_description":"organization is inactive"}"#,
      means: .unclear, .documented, salesforceErrors),
    ProviderResponse(
      "salesforce", .client, 400, #"{"error":"invalid_client_id","error_description":"client identifier invalid"}"#,
      means: .misconfigured, .documented, salesforceErrors),
    ProviderResponse(
      "salesforce", .client, 400, #"{"error":"invalid_client","error_description":"invalid client credentials"}"#,
      means: .misconfigured, .seen, "https://www.nango.dev/blog/salesforce-oauth-refresh-token-invalid-grant"),
    ProviderResponse(
      "salesforce", .limited, 400,
      #"{"error":"invalid_grant","error_description":"token request is already being processed"}"#, means: .unavailable,
      .seen, "https://github.com/segmentio/action-destinations/pull/2300"),
    ProviderResponse(
      "salesforce", .limited, 400, #"{"error":"rate_limit_exceeded","error_description":"login rate exceeded"}"#,
      means: .unavailable, .documented, salesforceErrors),
  ]
}
