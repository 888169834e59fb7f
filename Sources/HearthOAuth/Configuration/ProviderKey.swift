import HearthCore

package enum AccountType: String, CaseIterable, Sendable {
  case oidc, oauth2, firebase, json
  case clientCredentials = "client-credentials"

  /// Whether the account has an OAuth client and can therefore use any OAuth preset.
  var isOAuth: Bool {
    switch self {
    case .oidc, .oauth2, .clientCredentials: true
    case .firebase, .json: false
    }
  }
}

/// The keys in an account's table that configure its provider and APIs.
package enum ProviderKey: String, ConfigurationKey {
  case type, provider, issuer, scopes, bearer, subject, proxy, expect, delivery
  case clientID = "client_id"
  case clientSecretFile = "client_secret_file"
  case apiOrigins = "api_origins"
  case defaultLifetime = "default_lifetime"
  case tokenEndpoint = "token_endpoint"
  case authorizationEndpoint = "authorization_endpoint"
  case deviceAuthorizationEndpoint = "device_authorization_endpoint"
  case revocationEndpoint = "revocation_endpoint"
  case userInfoEndpoint = "userinfo_endpoint"
  case refreshURL = "refresh_url"
  case loginURL = "login_url"
  case refreshTokenField = "refresh_token_field"
  case accessTokenField = "access_token_field"
  case expiresInField = "expires_in_field"
  case apiKey = "api_key"
  case clientAuth = "client_auth"
  case clientKeyFile = "client_key_file"
  case clientKeyID = "client_key_id"
  case clientCertificateFile = "client_certificate_file"
  case clientAssertionAudience = "client_assertion_audience"
  case teamID = "team_id"
  case tokenParameters = "token_parameters"
  case authorizationParameters = "authorization_parameters"
  case finalErrors = "final_errors"
  case caFile = "ca_file"
  case certificatePins = "certificate_pins"
  case redirectPort = "redirect_port"
  case redirectURI = "redirect_uri"

  /// The account types for which the key is valid.
  package var types: [AccountType] {
    switch self {
    case .type, .provider, .clientID, .clientSecretFile, .scopes, .bearer, .subject, .apiOrigins, .expect, .delivery,
      .defaultLifetime, .tokenParameters, .proxy, .caFile, .certificatePins:
      AccountType.allCases
    case .issuer: [.oidc, .clientCredentials]
    case .tokenEndpoint: [.oauth2, .firebase, .clientCredentials]
    case .authorizationEndpoint, .deviceAuthorizationEndpoint: [.oauth2]
    case .revocationEndpoint, .userInfoEndpoint: [.oauth2, .clientCredentials]
    case .refreshURL, .loginURL, .refreshTokenField, .accessTokenField, .expiresInField: [.json]
    case .apiKey: [.firebase]
    case .clientAuth, .clientKeyFile, .clientKeyID, .clientCertificateFile, .clientAssertionAudience, .teamID:
      [.oidc, .oauth2, .clientCredentials]
    case .authorizationParameters, .redirectPort, .redirectURI: [.oidc, .oauth2]
    // Client-credentials accounts cannot set this key. They have no refresh token, so the provider can reject only the
    // client, which never ends the session.
    case .finalErrors: [.oidc, .oauth2, .firebase, .json]
    }
  }
}
