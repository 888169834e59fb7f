package import HearthCore

/// Where a provider answers.
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
  /// What client assertions may be signed with, if discovery says it
  /// (`token_endpoint_auth_signing_alg_values_supported`).
  package var signingAlgorithms: [String]?
  /// Where authorization requests are pushed (RFC 9126, section 5).
  package var pushedRequest: HTTPURL?
  /// Authorization requests have to be pushed (RFC 9126, section 5).
  package var requiresPushedRequest = false
  /// Where clients register themselves (RFC 7591, section 3).
  package var registration: HTTPURL?
  /// What may be asked for, if discovery says it (`scopes_supported`).
  package var scopes: [String]?
  /// The keys that ID tokens are signed with (`jwks_uri`), if they are named.
  package var keys: HTTPURL?
  /// What the provider calls itself, if that is known and does not stand for many issuers.
  package var issuer: String?
  /// Authorization responses name the issuer (RFC 9207, section 3).
  package var namesIssuer = false

  /// The origins of the endpoints that are sent tokens.
  var origins: Set<Origin> { Set([token, revocation, userInfo].compactMap { $0?.origin }) }
}

package struct FirebaseProject: Hashable, Sendable {
  package var apiKey: Secret
  /// The token endpoint, or nil for Google's own.
  package var tokenEndpoint: HTTPURL?

  /// Without the key.
  var tokenURL: HTTPURL { tokenEndpoint ?? HTTPURL(known: "https://securetoken.googleapis.com/v1/token") }
}

extension HTTPURL {
  /// A URL in the source code. A test reads all of them.
  init(known text: String) {
    guard let url = try? HTTPURL(text) else { preconditionFailure("\(text) is not a URL") }
    self = url
  }
}
