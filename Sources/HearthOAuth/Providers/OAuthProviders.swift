extension ProviderPreset {
  /// Providers with fixed endpoints, sorted by name.
  static let oauthProviders = [
    // https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html#using-refresh-tokens and
    // …/retrieve-code-other-platforms-cbl-docs.html
    Self(
      name: "amazon",
      place: .endpoints(
        token: "https://api.amazon.com/auth/o2/token", authorization: "https://www.amazon.com/ap/oa",
        device: "https://api.amazon.com/auth/o2/create/codepair", userInfo: "https://api.amazon.com/user/profile"),
      rotation: .never, clientAuthentication: .post, redirect: .localhost, deviceDialect: .draft,
      userInfoSubjectField: "user_id", apiOrigins: ["https://api.amazon.com"]),
    // https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens
    // The client secret is a JWT for https://appleid.apple.com that the client signs with ES256. It is valid for at
    // most six months. The endpoints are listed here instead of being discovered, because Apple publishes them under
    // more than one issuer name. The redirect must go to a domain over https ("Configuring your environment for Sign in
    // with Apple"), so it cannot be a loopback address.
    Self(
      name: "apple",
      place: .endpoints(
        token: "https://appleid.apple.com/auth/token", authorization: "https://appleid.apple.com/auth/authorize",
        revocation: "https://appleid.apple.com/auth/revoke"),
      rotation: .never, clientAuthentication: .apple, authorizationParameters: ["response_mode": "form_post"],
      redirect: nil),
    // https://developer.atlassian.com/cloud/oauth/getting-started/refresh-tokens/
    // Atlassian sends unauthorized_client for an unauthorized client and for an invalid refresh token, so a rule checks
    // the description.
    Self(
      name: "atlassian",
      place: .endpoints(
        token: "https://auth.atlassian.com/oauth/token", authorization: "https://auth.atlassian.com/authorize",
        userInfo: "https://api.atlassian.com/me"),
      rotation: .always, clientAuthentication: .post, offlineScopes: ["offline_access"],
      authorizationParameters: ["audience": "api.atlassian.com", "prompt": "consent"],
      responseRules: [
        ResponseRule(codes: ["unauthorized_client"], phrase: "refresh_token is invalid", means: .final),
        ResponseRule(codes: ["access_denied"], phrase: "Unauthorized", means: .misconfigured),
      ], userInfoSubjectField: "account_id", apiOrigins: ["https://api.atlassian.com"]),
    // https://discord.com/developers/docs/topics/oauth2
    Self(
      name: "discord",
      place: .endpoints(
        token: "https://discord.com/api/oauth2/token", authorization: "https://discord.com/oauth2/authorize",
        revocation: "https://discord.com/api/oauth2/token/revoke", userInfo: "https://discord.com/api/v10/users/@me"),
      rotation: .always, userInfoSubjectField: "id", apiOrigins: ["https://discord.com"]),
    // https://www.dropbox.com/developers/documentation/http/documentation#oauth2-token
    Self(
      name: "dropbox",
      place: .endpoints(
        token: "https://api.dropboxapi.com/oauth2/token", authorization: "https://www.dropbox.com/oauth2/authorize"),
      rotation: .never, clientAuthentication: .post, authorizationParameters: ["token_access_type": "offline"],
      redirect: .localhost, apiOrigins: ["https://api.dropboxapi.com", "https://content.dropboxapi.com"]),
    // https://developer.ebay.com/api-docs/static/oauth-refresh-token-request.html and …/oauth-redirect-uri.html
    // In requests, the redirect address is a name assigned by eBay (RuName), so it cannot be a loopback address. Tokens
    // of the type "User Access Token" are sent as Bearer tokens. A refresh token expires after 18 months, regardless of
    // use.
    Self(
      name: "ebay",
      place: .endpoints(
        token: "https://api.ebay.com/identity/v1/oauth2/token",
        authorization: "https://auth.ebay.com/oauth2/authorize"),
      rotation: .never, clientAuthentication: .basic, redirect: nil, apiOrigins: ["https://api.ebay.com"]),
    // https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
    // Tokens of GitHub Apps expire after eight hours. Tokens of OAuth apps do not expire and have no refresh token.
    // Errors have the HTTP status 200.
    Self(
      name: "github",
      place: .endpoints(
        token: "https://github.com/login/oauth/access_token",
        authorization: "https://github.com/login/oauth/authorize", device: "https://github.com/login/device/code",
        userInfo: "https://api.github.com/user"),
      rotation: .always, clientAuthentication: .post, userInfoSubjectField: "id",
      apiOrigins: ["https://api.github.com", "https://github.com"]),
    // https://developers.hubspot.com/docs/api-reference/auth-oauth-v3/guide
    Self(
      name: "hubspot",
      place: .endpoints(
        token: "https://api.hubapi.com/oauth/v3/token", authorization: "https://app.hubspot.com/oauth/authorize"),
      rotation: .never, clientAuthentication: .post, redirect: .localhost,
      // The specific code is in "status". "error" contains only invalid_request or invalid_grant.
      responseRules: [
        ResponseRule(codes: ["BAD_REFRESH_TOKEN"], means: .final),
        ResponseRule(codes: ["BAD_CLIENT_ID", "BAD_CLIENT_SECRET"], means: .misconfigured),
      ], apiOrigins: ["https://api.hubapi.com"]),
    // https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens
    // If a client sends both a secret and a code_verifier, LinkedIn responds with invalid_client. Requests therefore do
    // not contain a code challenge (https://github.com/nextauthjs/next-auth/issues/8831).
    Self(
      name: "linkedin",
      place: .endpoints(
        token: "https://www.linkedin.com/oauth/v2/accessToken",
        authorization: "https://www.linkedin.com/oauth/v2/authorization",
        revocation: "https://www.linkedin.com/oauth/v2/revoke", userInfo: "https://api.linkedin.com/v2/userinfo"),
      rotation: .never, clientAuthentication: .post, redirect: .localhost, usesCodeChallenge: false,
      apiOrigins: ["https://api.linkedin.com"]),
    // https://docs.slack.dev/authentication/using-token-rotation and …/reference/methods/oauth.v2.access
    // Errors have the HTTP status 200 and "ok": false. Tokens of the types "bot" and "user" are sent as Bearer tokens.
    Self(
      name: "slack",
      place: .endpoints(
        token: "https://slack.com/api/oauth.v2.access", authorization: "https://slack.com/oauth/v2/authorize"),
      rotation: .always, clientAuthentication: .post, redirect: .localhost, finalErrors: ["token_revoked"],
      responseRules: [
        ResponseRule(codes: ["account_inactive"], means: .accountDisabled),
        ResponseRule(
          codes: ["invalid_client_id", "bad_client_secret", "invalid_grant_type", "oauth_authorization_url_mismatch"],
          means: .misconfigured),
        ResponseRule(
          codes: [
            "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout",
          ], means: .unavailable),
      ], apiOrigins: ["https://slack.com"]),
    // https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens
    // Clients with a secret keep their refresh token. Clients with PKCE receive a new one with each refresh.
    Self(
      name: "spotify",
      place: .endpoints(
        token: "https://accounts.spotify.com/api/token", authorization: "https://accounts.spotify.com/authorize",
        userInfo: "https://api.spotify.com/v1/me"),
      rotation: .asConfigured, userInfoSubjectField: "id", apiOrigins: ["https://api.spotify.com"]),
    // https://developers.strava.com/docs/authentication/
    // Each error has a resource, a field and a code. If the access token is valid for more than an hour, a refresh
    // returns the same token.
    Self(
      name: "strava",
      place: .endpoints(
        token: "https://www.strava.com/api/v3/oauth/token", authorization: "https://www.strava.com/oauth/authorize",
        userInfo: "https://www.strava.com/api/v3/athlete"),
      rotation: .lenient, clientAuthentication: .post, authorizationParameters: ["approval_prompt": "auto"],
      responseRules: [
        ResponseRule(phrase: "RefreshToken refresh_token invalid", means: .final),
        ResponseRule(phrase: "RefreshToken code invalid", means: .final),
        ResponseRule(phrase: "Application client_id invalid", means: .misconfigured),
        ResponseRule(phrase: "Application client_secret invalid", means: .misconfigured),
      ], userInfoSubjectField: "id", apiOrigins: ["https://www.strava.com"]),
    // https://dev.twitch.tv/docs/authentication/refresh-tokens/ and …/getting-tokens-oauth/
    // Errors have a status and a message but no code. Public clients can use a refresh token only once. Other clients
    // can reuse their refresh token. Device code requests send the scopes in a field named "scopes".
    Self(
      name: "twitch",
      place: .endpoints(
        token: "https://id.twitch.tv/oauth2/token", authorization: "https://id.twitch.tv/oauth2/authorize",
        device: "https://id.twitch.tv/oauth2/device", revocation: "https://id.twitch.tv/oauth2/revoke",
        userInfo: "https://id.twitch.tv/oauth2/userinfo"),
      rotation: .lenient, clientAuthentication: .post, redirect: .localhost, deviceDialect: .pluralScopes,
      responseRules: [
        ResponseRule(phrase: "Invalid refresh token", means: .final),
        ResponseRule(phrase: "Invalid grant", means: .final),
        ResponseRule(phrase: "invalid client", means: .misconfigured),
        ResponseRule(phrase: "missing client", means: .misconfigured),
      ], apiOrigins: ["https://api.twitch.tv"]),
    // https://developer.withings.com/api-reference#operation/oauth2-refreshaccesstoken and …/developer-guide/faq/faq/
    // The grant is inside "body". Errors have the HTTP status 200, a number in "status" and a sentence in "error". The
    // old refresh token expires eight hours after a refresh, or earlier if the new access token is used. Withings
    // rejects redirects to loopback addresses.
    Self(
      name: "withings",
      place: .endpoints(
        token: "https://wbsapi.withings.net/v2/oauth2",
        authorization: "https://account.withings.com/oauth2_user/authorize2"),
      rotation: .lenient, clientAuthentication: .post, tokenParameters: ["action": "requesttoken"], redirect: nil,
      responseRules: [
        ResponseRule(codes: ["601"], means: .unavailable),
        ResponseRule(codes: ["503"], phrase: "invalid refresh", means: .final),
        ResponseRule(phrase: "invalid grant_type", means: .misconfigured),
        ResponseRule(phrase: "client ID", means: .misconfigured),
      ], apiOrigins: ["https://wbsapi.withings.net"]),
    // https://www.zoho.com/accounts/protocol/oauth/web-apps/access-token-expiry.html and
    // https://zoho.com.cn/writer/help/api/v1/oauth-step4.html
    // The value of expires_in is in milliseconds. Errors have the HTTP status 200. Users whose Zoho account is in
    // another data center must configure that data center's endpoints. Without access_type and prompt, Zoho does not
    // issue a new refresh token (https://github.com/googleworkspace/apps-script-oauth2/issues/197).
    Self(
      name: "zoho",
      place: .endpoints(
        token: "https://accounts.zoho.com/oauth/v2/token", authorization: "https://accounts.zoho.com/oauth/v2/auth",
        revocation: "https://accounts.zoho.com/oauth/v2/token/revoke"),
      rotation: .never, clientAuthentication: .post,
      authorizationParameters: ["access_type": "offline", "prompt": "consent"], redirect: .localhost,
      responseRules: [
        ResponseRule(codes: ["invalid_code"], means: .final),
        ResponseRule(codes: ["invalid_client_secret"], means: .misconfigured),
      ], apiOrigins: ["https://www.zohoapis.com"]),
    // https://developers.zoom.us/docs/integrations/oauth/
    Self(
      name: "zoom",
      place: .endpoints(
        token: "https://zoom.us/oauth/token", authorization: "https://zoom.us/oauth/authorize",
        device: "https://zoom.us/oauth/devicecode", revocation: "https://zoom.us/oauth/revoke",
        userInfo: "https://api.zoom.us/v2/users/me"),
      rotation: .always, clientAuthentication: .basic,
      responseRules: [ResponseRule(codes: ["invalid_request"], phrase: "Invalid Token", means: .final)],
      userInfoSubjectField: "id", apiOrigins: ["https://api.zoom.us"]),
  ]
}
