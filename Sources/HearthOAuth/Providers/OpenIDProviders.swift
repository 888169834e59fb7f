import HearthCore

extension ProviderPreset {
  /// Providers with discovered endpoints, sorted by name.
  static let openIDProviders = [
    // https://auth0.com/docs/secure/tokens/refresh-tokens
    // Errors have the status 403. The issuer ends with a slash.
    Self(
      name: "auth0", place: .ownIssuer(example: "https://example.eu.auth0.com/"), rotation: .asConfigured,
      offlineScopes: ["offline_access"],
      responseRules: [
        ResponseRule(codes: ["invalid_grant"], phrase: "user is blocked", means: .accountDisabled),
        // The answer to a wrong secret. When an Action denies access, the description is its own.
        ResponseRule(codes: ["access_denied"], phrase: "Unauthorized", means: .misconfigured),
      ]),
    // https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html and
    // …/cognito-user-pools-app-idp-settings.html; …/token-revocation.html: the user's other refresh tokens stay valid.
    Self(
      name: "cognito",
      place: .ownIssuer(example: "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE"),
      rotation: .asConfigured, revokesOneGrant: true, redirect: .localhost),
    // https://forgejo.org/docs/latest/user/oauth2-provider/; shares Gitea's code.
    Self(name: "forgejo", place: .ownIssuer(example: "https://git.example.org/"), rotation: .asConfigured),
    // https://docs.gitea.com/development/oauth2-provider and
    // https://github.com/go-gitea/gitea/blob/main/routers/web/auth/oauth2_provider.go
    // An invalid or used refresh token is refused as unauthorized_client. The old token ends with a new one only if the
    // instance sets INVALIDATE_REFRESH_TOKENS.
    Self(name: "gitea", place: .ownIssuer(example: "https://git.example.com"), rotation: .asConfigured),
    // https://docs.gitlab.com/api/oauth2/
    // For a self-managed instance, the account sets the issuer.
    Self(name: "gitlab", place: .issuer("https://gitlab.com"), rotation: .always, apiOrigins: ["https://gitlab.com"]),
    // https://developers.google.com/identity/protocols/oauth2/web-server#offline
    // A refresh with scopes that Google does not know, such as offline_access, is rejected as invalid_scope.
    Self(
      name: "google", place: .issuer("https://accounts.google.com"), rotation: .never, clientAuthentication: .post,
      authorizationParameters: ["access_type": "offline", "prompt": "consent"],
      responseRules: [
        ResponseRule(
          codes: ["admin_policy_enforced", "org_internal", "deleted_client", "disabled_client"], means: .misconfigured)
      ], apiOrigins: ["https://www.googleapis.com", "https://gmail.googleapis.com", "https://people.googleapis.com"],
      mailDomains: ["gmail.com", "googlemail.com"]),
    // https://indigo-iam.github.io/v/current/docs/
    // The token endpoint is MITREid Connect's, which answers 401 and invalid_token to every use of an expired or
    // unknown refresh token.
    Self(
      name: "indigo-iam", place: .ownIssuer(example: "https://iam.example.org/"), rotation: .asConfigured,
      offlineScopes: ["offline_access"], finalErrors: ["invalid_token"]),
    // https://www.keycloak.org/docs/latest/server_admin/#_timeouts
    // Without offline_access the refresh token ends with the browser session; the response says when.
    Self(
      name: "keycloak", place: .ownIssuer(example: "https://id.example.com/realms/example"), rotation: .asConfigured,
      responseRules: [ResponseRule(codes: ["invalid_grant"], phrase: "user disabled", means: .accountDisabled)]),
    // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow and …/reference-error-codes
    // "common" stands for all tenants; an account of one tenant sets that tenant's issuer. Using a refresh token does
    // not revoke it. Each refresh must name the scopes again (AADSTS90009, AADSTS90023), and also offline_access, which
    // no response lists and without which there is no new refresh token. For http://localhost the port is ignored
    // (https://learn.microsoft.com/entra/identity-platform/reply-url).
    Self(
      name: "microsoft", place: .issuer("https://login.microsoftonline.com/common/v2.0"), rotation: .lenient,
      sendsScopeOnRefresh: true, offlineScopes: ["offline_access"],
      redirect: RedirectAddress(host: "localhost", path: ""),
      responseRules: [
        // A client that asks too often gets invalid_grant; the same token works again after some minutes.
        ResponseRule(codes: ["invalid_grant"], phrase: "AADSTS50196", means: .unavailable),
        ResponseRule(codes: ["invalid_grant"], phrase: "AADSTS50057", means: .accountDisabled),
        // Conditional access rejects the device or the network, not the token, which works again in the office.
        ResponseRule(phrase: "AADSTS53000", means: .unclear), ResponseRule(phrase: "AADSTS53001", means: .unclear),
        ResponseRule(phrase: "AADSTS53003", means: .unclear),
      ], apiOrigins: ["https://graph.microsoft.com"],
      mailDomains: ["outlook.com", "hotmail.com", "live.com", "msn.com"]),
    // https://developer.okta.com/docs/guides/refresh-tokens/main/ and …/revoke-tokens/main/: a refresh token ends with its
    // access token.
    Self(
      name: "okta", place: .ownIssuer(example: "https://example.okta.com/oauth2/default"), rotation: .asConfigured,
      revokesOneGrant: true,
      offlineScopes: ["offline_access"]),
    // https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_refresh_token_flow.htm
    // An access token lives as long as the organization's session timeout (two hours by default), which no response
    // states. An account with its own domain sets that as the issuer. Revoking a refresh token also revokes its access
    // tokens (https://developer.salesforce.com/docs/platform/mobile-sdk/guide/oauth-revoking-tokens.html).
    Self(
      name: "salesforce", place: .issuer("https://login.salesforce.com"), rotation: .asConfigured,
      clientAuthentication: .post, revokesOneGrant: true, offlineScopes: ["refresh_token"], redirect: .localhost,
      defaultLifetime: .seconds(3600),
      responseRules: [
        // This is about the address and the time of the request, not about the token.
        ResponseRule(codes: ["invalid_grant"], phrase: "ip restricted", means: .unclear),
        ResponseRule(codes: ["inactive_user"], means: .accountDisabled),
        ResponseRule(codes: ["rate_limit_exceeded"], means: .unavailable),
        ResponseRule(codes: ["invalid_client_id", "invalid_app_access"], means: .misconfigured),
      ]),
  ]
}
