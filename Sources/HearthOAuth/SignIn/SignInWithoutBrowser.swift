import HearthCore

/// A sign-in that does not use the provider's web pages.
protocol SignInWithoutBrowser: SignInEndpoint {
  /// A sentence that says how accounts of this type sign in instead.
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

  package func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> GrantAnswer {
    throw .notSupported(message: otherFlow)
  }

  package func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String {
    throw .notSupported(message: "An account of this type has no browser session to end.")
  }
}
