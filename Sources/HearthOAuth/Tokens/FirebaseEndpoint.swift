import HearthCore

/// Refreshes the tokens of Firebase users with Google's Secure Token API (`POST /v1/token`) or an emulator of it.
struct FirebaseEndpoint: TokenEndpoint {
  let project: FirebaseProject
  let exchange: TokenExchange

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    let url = try project.url(project.tokenURL)
    try exchange.requireBinding(of: credential, to: url.origin)
    let token = try exchange.refreshToken(of: credential)
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token.reveal())] + exchange.parameters
    return try await exchange.grant(
      by: .form(fields, to: url), in: .firebase, for: credential, secrets: [project.apiKey])
  }

  /// Firebase lets only a project's administrators revoke tokens.
  func revoke(_ credential: Credential) async -> RevocationOutcome {
    .refused(message: "Hearth cannot revoke the tokens of an account of type firebase.")
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { exchange.expiry(of: token, at: now) }

  func time() async throws(RefreshFailure) -> Timestamp { try await exchange.time(at: project.tokenURL) }

  func origin() async -> Origin? { exchange.binding.origin }

  func identify(_ credential: Credential) async -> Subject? {
    [credential.grant.idToken, credential.grant.accessToken].lazy
      .compactMap { $0.flatMap { JWTClaims($0.secret.reveal()) } }.first?.subject(default: exchange.issuer)
  }
}

/// Signs in Firebase users by email address and password (Identity Toolkit API, `accounts:signInWithPassword`).
///
/// Hearth does not verify the ID token's signature, because the token comes from Firebase over TLS, and an emulator
/// does not sign its tokens.
extension FirebaseEndpoint: SignInWithoutBrowser {
  var takesPassword: Bool { true }
  var otherFlow: String {
    "An account of type firebase cannot sign in with a browser or a device code. Sign in with an email address and a "
      + "password."
  }

  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    let url: HTTPURL
    do {
      url = try project.url(try project.passwordURL)
    } catch {
      throw SignInFailure(error)
    }
    let fields: [String: JSONValue] = [
      "email": .string(username), "password": .string(password.reveal()), "returnSecureToken": .bool(true),
    ]
    return try await exchange.signIn(
      by: .json(fields, to: url), in: .identityToolkit, secrets: [password, project.apiKey],
      refreshedAt: project.tokenURL.origin)
  }
}

extension FirebaseProject {
  /// Returns the URL with the project's API key in its query.
  func url(_ base: HTTPURL) throws(RefreshFailure) -> HTTPURL {
    let base = base.description
    let key = (base.contains("?") ? "&" : "?") + "key=" + FormBody.encode(apiKey.reveal())
    do {
      return try HTTPURL(base + key)
    } catch {
      throw .misconfigured(message: "Cannot use the token endpoint: \(error).")
    }
  }

  private static let host = "identitytoolkit.googleapis.com"
  private static let tokenHost = "securetoken.googleapis.com"

  /// The URL for sign-ins with a password, at Google or at the configured emulator. An emulator serves each API under a
  /// path that starts with the API's host name.
  fileprivate var passwordURL: HTTPURL {
    get throws(RefreshFailure) {
      let path = "/\(Self.host)/v1/accounts:signInWithPassword"
      let text: String
      if tokenURL.origin.host == Self.tokenHost {
        text = "https:/" + path
      } else {
        let target = tokenURL.target
        let prefix = target.firstRange(of: "/\(Self.tokenHost)/").map { target[..<$0.lowerBound] } ?? ""
        text = tokenURL.origin.description + prefix + path
      }
      do {
        return try HTTPURL(text)
      } catch {
        throw .misconfigured(message: "Cannot use the sign-in address: \(error).")
      }
    }
  }
}
