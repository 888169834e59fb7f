import HTTPTypes

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
