import HTTPTypes

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
  let registrationEndpoint: String
  let jwksUri: String
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

  init(issuer: String, demandsPushedRequests: Bool) {
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
    registrationEndpoint = address(.register)
    jwksUri = address(.keys)
    requirePushedAuthorizationRequests = demandsPushedRequests
  }
}

enum Endpoint: String, CaseIterable, Sendable {
  case discovery = "/.well-known/openid-configuration"
  case webFinger = "/.well-known/webfinger"
  case keys = "/jwks"
  case authorize = "/authorize"
  case login = "/login"
  case consent = "/consent"
  case pushedRequest = "/par"
  case deviceAuthorization = "/device_authorization"
  case device = "/device"
  case register = "/register"
  case token = "/token"
  case jsonLogin = "/auth/login"
  case jsonRefresh = "/auth/refresh"
  case revoke = "/revoke"
  case introspect = "/introspect"
  case userInfo = "/userinfo"
  case endSession = "/end_session"

  var methods: Set<HTTPRequest.Method> {
    switch self {
    case .discovery, .webFinger, .keys, .userInfo: [.get]
    case .authorize, .consent, .device, .endSession: [.get, .post]
    case .login, .pushedRequest, .deviceAuthorization, .register, .token, .jsonLogin, .jsonRefresh, .revoke,
      .introspect:
      [.post]
    }
  }
}
