/// The provider's discovery document (OpenID Connect Discovery 1.0, section 3).
struct Discovery: Codable, Hashable, Sendable {
  let issuer: String
  let tokenEndpoint: String
  let revocationEndpoint: String
  let userinfoEndpoint: String
  var grantTypesSupported = ["refresh_token", "client_credentials", "password"]
  var responseTypesSupported: [String] = []
  var subjectTypesSupported = ["public"]
  var scopesSupported = ["openid", "offline_access"]
  var idTokenSigningAlgValuesSupported = ["HS256"]
  var tokenEndpointAuthMethodsSupported = ["client_secret_basic", "client_secret_post", "none"]

  enum CodingKeys: String, CodingKey {
    case issuer
    case tokenEndpoint = "token_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case userinfoEndpoint = "userinfo_endpoint"
    case grantTypesSupported = "grant_types_supported"
    case responseTypesSupported = "response_types_supported"
    case subjectTypesSupported = "subject_types_supported"
    case scopesSupported = "scopes_supported"
    case idTokenSigningAlgValuesSupported = "id_token_signing_alg_values_supported"
    case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
  }

  init(issuer: String) {
    self.issuer = issuer
    tokenEndpoint = issuer + "/token"
    revocationEndpoint = issuer + "/revoke"
    userinfoEndpoint = issuer + "/userinfo"
  }
}
