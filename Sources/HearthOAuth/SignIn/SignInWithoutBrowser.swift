import HearthCore

/// Signs in where no person goes to a page of the provider.
protocol SignInWithoutBrowser: SignInEndpoint {
  /// Which flow the account has instead, in a sentence.
  var otherFlow: String { get }
}

extension SignInWithoutBrowser {
  package var redirect: RedirectAddress { RedirectAddress() }

  package func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn {
    throw .notSupported(message: otherFlow)
  }

  package func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse {
    throw .notSupported(message: otherFlow)
  }

  package func beginDevice() async throws(SignInFailure) -> DeviceSignIn { throw .notSupported(message: otherFlow) }

  package func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> TokenResponse {
    throw .notSupported(message: otherFlow)
  }

  package func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String {
    throw .notSupported(message: "An account of this type has no session in the browser that could be ended.")
  }
}

/// A client's own grant, for which nobody signs in (RFC 6749, section 4.4).
struct ClientCredentialsSignInEndpoint: SignInWithoutBrowser {
  var otherFlow: String {
    "An account of type client-credentials needs nobody to sign in: it asks for its token by itself."
  }

  var takesPassword: Bool { false }

  func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    throw .notSupported(message: otherFlow)
  }
}
