package import HearthCore

package struct ProviderEndpoints: Hashable, Sendable {
  package var token: HTTPURL
  package var authorization: HTTPURL?
  package var deviceAuthorization: HTTPURL?
  package var revocation: HTTPURL?
  package var userInfo: HTTPURL?
  /// The URL at which the browser ends the provider's session (OpenID Connect RP-Initiated Logout 1.0, section 2.1).
  package var endSession: HTTPURL?
  /// The client authentication methods from discovery (`token_endpoint_auth_methods_supported`), if listed.
  package var authenticationMethods: [String]?
  /// The signing algorithms for client assertions from discovery (`token_endpoint_auth_signing_alg_values_supported`),
  /// if listed.
  package var signingAlgorithms: [String]?
  /// The endpoint for pushed authorization requests (RFC 9126, section 5).
  package var pushedRequest: HTTPURL?
  /// Whether the provider accepts only pushed authorization requests (RFC 9126, section 5).
  package var requiresPushedRequest = false
  /// The client registration endpoint (RFC 7591, section 3).
  package var registration: HTTPURL?
  /// The scopes that a client can request, from discovery (`scopes_supported`), if listed.
  package var scopes: [String]?
  /// The URL of the public keys that verify ID tokens (`jwks_uri`), if known.
  package var keys: HTTPURL?
  /// The issuer's name, or `nil` if the name is unknown or stands for several issuers.
  package var issuer: String?
  /// Whether authorization responses contain the issuer (RFC 9207, section 3).
  package var namesIssuer = false

  /// The origins of the endpoints that receive the account's tokens.
  var origins: Set<Origin> { Set([token, revocation, userInfo].compactMap { $0?.origin }) }
}

package struct FirebaseProject: Hashable, Sendable {
  package var apiKey: Secret
  /// The token endpoint, or `nil` to use Google's.
  package var tokenEndpoint: HTTPURL?

  /// The token endpoint's URL, without the API key.
  var tokenURL: HTTPURL { tokenEndpoint ?? HTTPURL(known: "https://securetoken.googleapis.com/v1/token") }
}

extension HTTPURL {
  /// Creates a URL from a literal in the source code. A test parses all such literals.
  init(known text: String) {
    guard let url = try? HTTPURL(text) else { preconditionFailure("\(text) is not a URL") }
    self = url
  }
}
