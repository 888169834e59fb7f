package import HearthCore

/// How somebody wants to sign in, with what that takes.
package enum SignInRequest: Sendable {
  case browser
  case device
  case password(name: String, password: Secret)
  case clientCredentials
}
