import HearthCore

/// The end of the session at the provider itself (OpenID Connect RP-Initiated Logout 1.0).
extension OAuthSignInEndpoint {
  func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String {
    let endpoints = try await endpoints()
    guard let page = endpoints.endSession else {
      throw .notSupported(
        message: "The provider names no page that ends the session there (end_session_endpoint): sign out there in the "
          + "browser.")
    }
    var fields = [("client_id", tokens.client.id)]
    // As any token, it goes to no other origin than those that were named at sign-in.
    if let signedOut, let idToken = signedOut.grant.idToken, signedOut.mayReach(page.origin) {
      fields.insert(("id_token_hint", idToken.secret.reveal()), at: 0)
    }
    return AuthorizationRequest.url(page, with: fields)
  }
}
