import HearthCore

extension ProviderPreset {
  /// Providers with discovered endpoints, sorted by name.
  static let openIDProviders = [
    // https://auth0.com/docs/secure/tokens/refresh-tokens
    // Rejections of a refresh token have the HTTP status 403. The issuer ends with a slash.
    Self(
      name: "auth0", place: .ownIssuer(example: "https://example.eu.auth0.com/"), rotation: .asConfigured,
      offlineScopes: ["offline_access"],
      responseRules: [
        ResponseRule(codes: ["invalid_grant"], phrase: "user is blocked", means: .accountDisabled),
        // Auth0 sends access_denied with this description for a wrong client secret. An Action that denies access sends
        // its own description, so the code alone is not enough.
        ResponseRule(codes: ["access_denied"], phrase: "Unauthorized", means: .misconfigured),
      ]),
    // https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html,
    // …/cognito-user-pools-app-idp-settings.html and …/token-revocation.html
    // Revoking a refresh token does not revoke the user's other refresh tokens.
    Self(
      name: "cognito",
      place: .ownIssuer(example: "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE"),
      rotation: .asConfigured, revokesOneGrant: true, redirect: .localhost),
    // https://forgejo.org/docs/latest/user/oauth2-provider/
    // Forgejo is a fork of Gitea, so the notes on Gitea below also apply to Forgejo.
    Self(name: "forgejo", place: .ownIssuer(example: "https://git.example.org/"), rotation: .asConfigured),
    // https://docs.gitea.com/development/oauth2-provider and
    // https://github.com/go-gitea/gitea/blob/main/routers/web/auth/oauth2_provider.go
    // Gitea rejects an invalid or used refresh token with unauthorized_client. A refresh invalidates the old token only
    // if the instance sets INVALIDATE_REFRESH_TOKENS.
    Self(name: "gitea", place: .ownIssuer(example: "https://git.example.com"), rotation: .asConfigured),
    // https://docs.gitlab.com/api/oauth2/
    // Users of a self-managed instance configure its URL as the issuer.
    Self(name: "gitlab", place: .issuer("https://gitlab.com"), rotation: .always, apiOrigins: ["https://gitlab.com"]),
    // https://developers.google.com/identity/protocols/oauth2/web-server#offline
    // Google rejects unknown scopes, such as offline_access, with invalid_scope, so the preset sends access_type
    // instead.
    Self(
      name: "google", place: .issuer("https://accounts.google.com"), rotation: .never, clientAuthentication: .post,
      authorizationParameters: ["access_type": "offline", "prompt": "consent"],
      responseRules: [
        ResponseRule(
          codes: ["admin_policy_enforced", "org_internal", "deleted_client", "disabled_client"], means: .misconfigured)
      ], apiOrigins: ["https://www.googleapis.com", "https://gmail.googleapis.com", "https://people.googleapis.com"],
      mailDomains: ["gmail.com", "googlemail.com"]),
    // https://indigo-iam.github.io/v/current/docs/
    // INDIGO IAM uses the token endpoint of MITREid Connect, which rejects an expired or unknown refresh token with 401
    // and invalid_token.
    Self(
      name: "indigo-iam", place: .ownIssuer(example: "https://iam.example.org/"), rotation: .asConfigured,
      offlineScopes: ["offline_access"], finalErrors: ["invalid_token"]),
    // https://www.keycloak.org/docs/latest/server_admin/#_timeouts
    // Without offline_access, the refresh token expires with the browser session. The response contains the refresh
    // token's lifetime.
    Self(
      name: "keycloak", place: .ownIssuer(example: "https://id.example.com/realms/example"), rotation: .asConfigured,
      responseRules: [ResponseRule(codes: ["invalid_grant"], phrase: "user disabled", means: .accountDisabled)]),
    // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow and …/reference-error-codes
    // "common" stands for all tenants. To sign in to only one tenant, users configure that tenant's issuer. Using a
    // refresh token does not revoke it. Each refresh must list the scopes again (AADSTS90009, AADSTS90023). The list
    // must include offline_access, although no response lists it, because Entra otherwise does not issue a new refresh
    // token. Entra ignores the port of http://localhost
    // (https://learn.microsoft.com/entra/identity-platform/reply-url).
    Self(
      name: "microsoft", place: .issuer("https://login.microsoftonline.com/common/v2.0"), rotation: .lenient,
      sendsScopeOnRefresh: true, offlineScopes: ["offline_access"],
      redirect: RedirectAddress(host: "localhost", path: ""),
      responseRules: [
        // A client that sends too many requests receives invalid_grant. The same token works again after a few minutes,
        // so Hearth retries.
        ResponseRule(codes: ["invalid_grant"], phrase: "AADSTS50196", means: .unavailable),
        ResponseRule(codes: ["invalid_grant"], phrase: "AADSTS50057", means: .accountDisabled),
        // Conditional access rejects the device or network, not the token, so the session continues.
        ResponseRule(phrase: "AADSTS53000", means: .unclear), ResponseRule(phrase: "AADSTS53001", means: .unclear),
        ResponseRule(phrase: "AADSTS53003", means: .unclear),
      ], apiOrigins: ["https://graph.microsoft.com"],
      mailDomains: ["outlook.com", "hotmail.com", "live.com", "msn.com"]),
    // https://developer.okta.com/docs/guides/refresh-tokens/main/ and …/revoke-tokens/main/
    // Revoking a refresh token also revokes its access token.
    Self(
      name: "okta", place: .ownIssuer(example: "https://example.okta.com/oauth2/default"), rotation: .asConfigured,
      revokesOneGrant: true,
      offlineScopes: ["offline_access"]),
    // https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_refresh_token_flow.htm
    // An access token expires after the organization's session timeout, which is two hours by default. No response
    // contains this time, so Hearth assumes one hour. If the organization has its own domain, users configure that
    // domain as the issuer. Revoking a refresh token also revokes its access tokens
    // (https://developer.salesforce.com/docs/platform/mobile-sdk/guide/oauth-revoking-tokens.html).
    Self(
      name: "salesforce", place: .issuer("https://login.salesforce.com"), rotation: .asConfigured,
      clientAuthentication: .post, revokesOneGrant: true, offlineScopes: ["refresh_token"], redirect: .localhost,
      defaultLifetime: .seconds(3600),
      responseRules: [
        // Salesforce rejects the address or time of the request, not the token, so the session continues.
        ResponseRule(codes: ["invalid_grant"], phrase: "ip restricted", means: .unclear),
        ResponseRule(codes: ["inactive_user"], means: .accountDisabled),
        ResponseRule(codes: ["rate_limit_exceeded"], means: .unavailable),
        ResponseRule(codes: ["invalid_client_id", "invalid_app_access"], means: .misconfigured),
      ]),
  ]
}
