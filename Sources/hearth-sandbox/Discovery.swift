/// The provider's discovery document (OpenID Connect Discovery 1.0, section 3; RFC 8414; RFC 8628, section 4; RFC 9126,
/// section 5; RFC 9207, section 3; OpenID Connect RP-Initiated Logout 1.0, section 2.1).
struct Discovery: Codable, Hashable, Sendable {
  let issuer: String
  let authorizationEndpoint: String
  let tokenEndpoint: String
  let deviceAuthorizationEndpoint: String
  let pushedAuthorizationRequestEndpoint: String
  let revocationEndpoint: String
  let introspectionEndpoint: String
  let userinfoEndpoint: String
  let endSessionEndpoint: String
  let jwksURI: String
  let requirePushedAuthorizationRequests: Bool
  var authorizationResponseIssParameterSupported = true
  var grantTypesSupported = [
    "authorization_code", "refresh_token", "client_credentials", "password", DeviceCodes.grantType,
  ]
  var responseTypesSupported = ["code"]
  var responseModesSupported = ["query"]
  var codeChallengeMethodsSupported = ["S256"]
  var promptValuesSupported = AuthorizationRequest.Prompt.allCases.map(\.rawValue)
  var subjectTypesSupported = ["public"]
  var scopesSupported = ["openid", "offline_access"]
  var idTokenSigningAlgValuesSupported = ["ES256"]
  var tokenEndpointAuthMethodsSupported = ["client_secret_basic", "client_secret_post", "none"]

  enum CodingKeys: String, CodingKey {
    case issuer
    case authorizationEndpoint = "authorization_endpoint"
    case tokenEndpoint = "token_endpoint"
    case deviceAuthorizationEndpoint = "device_authorization_endpoint"
    case pushedAuthorizationRequestEndpoint = "pushed_authorization_request_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case introspectionEndpoint = "introspection_endpoint"
    case userinfoEndpoint = "userinfo_endpoint"
    case endSessionEndpoint = "end_session_endpoint"
    case jwksURI = "jwks_uri"
    case requirePushedAuthorizationRequests = "require_pushed_authorization_requests"
    case authorizationResponseIssParameterSupported = "authorization_response_iss_parameter_supported"
    case grantTypesSupported = "grant_types_supported"
    case responseTypesSupported = "response_types_supported"
    case responseModesSupported = "response_modes_supported"
    case codeChallengeMethodsSupported = "code_challenge_methods_supported"
    case promptValuesSupported = "prompt_values_supported"
    case subjectTypesSupported = "subject_types_supported"
    case scopesSupported = "scopes_supported"
    case idTokenSigningAlgValuesSupported = "id_token_signing_alg_values_supported"
    case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
  }

  init(issuer: String, demandsPushedRequests: Bool = false) {
    func address(_ endpoint: Endpoint) -> String { issuer + endpoint.rawValue }
    self.issuer = issuer
    authorizationEndpoint = address(.authorize)
    tokenEndpoint = address(.token)
    deviceAuthorizationEndpoint = address(.deviceAuthorization)
    pushedAuthorizationRequestEndpoint = address(.pushedRequest)
    revocationEndpoint = address(.revoke)
    introspectionEndpoint = address(.introspect)
    userinfoEndpoint = address(.userInfo)
    endSessionEndpoint = address(.endSession)
    jwksURI = address(.keys)
    requirePushedAuthorizationRequests = demandsPushedRequests
  }
}
