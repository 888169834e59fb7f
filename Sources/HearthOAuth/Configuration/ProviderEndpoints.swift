package import HearthCore

/// The addresses of a provider's endpoints.
package struct ProviderEndpoints: Hashable, Sendable {
  package var token: HTTPURL
  package var authorization: HTTPURL?
  package var deviceAuthorization: HTTPURL?
  package var revocation: HTTPURL?
  package var userInfo: HTTPURL?
  /// Where the browser ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0, section 2.1).
  package var endSession: HTTPURL?
  /// How clients may authenticate, if discovery says it (`token_endpoint_auth_methods_supported`).
  package var authenticationMethods: [String]?
  /// The algorithms that may sign client assertions, if discovery names them
  /// (`token_endpoint_auth_signing_alg_values_supported`).
  package var signingAlgorithms: [String]?
  /// Where authorization requests are pushed (RFC 9126, section 5).
  package var pushedRequest: HTTPURL?
  /// Whether authorization requests must be pushed (RFC 9126, section 5).
  package var requiresPushedRequest = false
  /// Where clients register themselves (RFC 7591, section 3).
  package var registration: HTTPURL?
  /// The scopes that a client may ask for, if discovery names them (`scopes_supported`).
  package var scopes: [String]?
  /// The address of the keys that sign ID tokens (`jwks_uri`), if it is known.
  package var keys: HTTPURL?
  /// The name of the issuer, if it is known and does not stand for many issuers.
  package var issuer: String?
  /// Whether authorization responses name the issuer (RFC 9207, section 3).
  package var namesIssuer = false

  /// The origins of the endpoints that receive tokens.
  var origins: Set<Origin> { Set([token, revocation, userInfo].compactMap { $0?.origin }) }
}

package struct FirebaseProject: Hashable, Sendable {
  package var apiKey: Secret
  /// The token endpoint, or `nil` for Google's own.
  package var tokenEndpoint: HTTPURL?

  /// The address of the token endpoint, without the key.
  var tokenURL: HTTPURL { tokenEndpoint ?? HTTPURL(known: "https://securetoken.googleapis.com/v1/token") }
}

extension HTTPURL {
  /// A URL in the source code. A test parses all of them.
  init(known text: String) {
    guard let url = try? HTTPURL(text) else { preconditionFailure("\(text) is not a URL") }
    self = url
  }
}
