import HearthCore

/// Firebase Authentication with e-mail address and password (Identity Toolkit API, `accounts:signInWithPassword`), or an
/// emulator of it.
///
/// The ID token comes over TLS from Firebase itself and is for the project's own APIs; it is read, as in a refresh, and
/// not checked further. An emulator's is not signed at all.
struct FirebaseSignInEndpoint: SignInWithoutBrowser {
  let project: FirebaseProject
  let exchange: TokenExchange

  var takesPassword: Bool { true }
  var otherFlow: String { "An account of type firebase signs in with e-mail address and password." }

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
  private static let host = "identitytoolkit.googleapis.com"
  private static let tokenHost = "securetoken.googleapis.com"

  /// Google's own, or that of the emulator whose token endpoint the account names: it has each API below the name of its
  /// host.
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
        throw .misconfigured(message: "The address for signing in cannot be used: \(error).")
      }
    }
  }
}
