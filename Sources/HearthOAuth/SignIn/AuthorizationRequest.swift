import Crypto
import HearthCore

/// An authorization request, with PKCE unless the provider rejects it (RFC 6749, section 4.1.1; RFC 7636, section 4.3;
/// OpenID Connect Core, section 3.1.2.1).
struct AuthorizationRequest {
  let redirectURI: String
  /// `state` and `codeVerifier` contain 256 random bits each, as recommended for the verifier (RFC 7636, section 4.1).
  let state = Secret(Base64URL.random(bytes: 32))
  let codeVerifier = Secret(Base64URL.random(bytes: 32))
  /// The nonce, if the request asks for an ID token.
  let nonce: Secret?
  /// All fields except `client_id`, because the client authentication of a pushed request may already add it.
  let fields: [(String, String)]
  /// The fields for another attempt if the provider rejects the scopes that Hearth adds, or `nil` if Hearth does not
  /// add any.
  let fallback: [(String, String)]?

  /// Requests `offlineScopes` in addition to `scopes`. If `asksConsent` is true, requests with offline scopes also
  /// prompt for consent, which `offline_access` requires (OpenID Connect Core, section 11), unless `parameters` contain
  /// another `prompt`. `parameters` are fields from the configuration.
  init(
    redirectURI: String, scopes: [String], offlineScopes: [String] = [], asksConsent: Bool = false,
    hasCodeChallenge: Bool, parameters: [String: String]
  ) {
    self.redirectURI = redirectURI
    nonce = scopes.contains("openid") ? Secret(Base64URL.random(bytes: 32)) : nil
    var rest = [("state", state.reveal())]
    if let nonce { rest.append(("nonce", nonce.reveal())) }
    if hasCodeChallenge {
      let challenge = Base64URL.encode(Array(SHA256.hash(data: Array(codeVerifier.reveal().utf8))))
      rest += [("code_challenge", challenge), ("code_challenge_method", "S256")]
    }
    func fields(_ scopes: [String], _ parameters: [String: String]) -> [(String, String)] {
      [("response_type", "code"), ("redirect_uri", redirectURI)]
        + (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]) + rest
        + parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    let consent = asksConsent && !offlineScopes.isEmpty ? ["prompt": "consent"] : [:]
    self.fields = fields(scopes + offlineScopes, parameters.merging(consent) { own, _ in own })
    fallback = offlineScopes.isEmpty ? nil : fields(scopes, parameters)
  }

  /// The request's secrets, which must not appear in messages even if the provider repeats them in its response.
  var secrets: [Secret] { [state, codeVerifier, nonce].compactMap(\.self) }

  /// Returns the endpoint's URL with the fields in its query (RFC 6749, section 3.1).
  static func url(_ endpoint: HTTPURL, with fields: [(String, String)]) -> String {
    let base = endpoint.description
    let separator = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
    return base + separator + String(decoding: FormBody.encode(fields), as: UTF8.self)
  }
}
