import Crypto
import HearthCore

/// An authorization request with PKCE (RFC 6749, section 4.1.1; RFC 7636, section 4.3; OpenID Connect Core, section
/// 3.1.2.1).
struct AuthorizationRequest {
  let redirectURI: String
  /// 256 random bits each, as RFC 7636, section 4.1 recommends for the verifier.
  let state = Secret(Base64URL.random(bytes: 32))
  let codeVerifier = Secret(Base64URL.random(bytes: 32))
  /// The nonce, if an ID token is asked for.
  let nonce: Secret?
  /// Without `client_id`, which the authentication of a pushed request may bring itself.
  let fields: [(String, String)]
  /// The fields without the scopes that nobody has configured, if there are any.
  let fallback: [(String, String)]?

  /// `offlineScopes` are asked for besides, with the consent that `offline_access` needs unless the preset says otherwise
  /// (OpenID Connect Core, section 11). `parameters` are further fields from the configuration.
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

  /// What a provider that repeats its input must not bring into a message.
  var secrets: [Secret] { [state, codeVerifier, nonce].compactMap(\.self) }

  /// The endpoint's own query stays (RFC 6749, section 3.1).
  static func url(_ endpoint: HTTPURL, with fields: [(String, String)]) -> String {
    let base = endpoint.description
    let separator = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
    return base + separator + String(decoding: FormBody.encode(fields), as: UTF8.self)
  }
}
