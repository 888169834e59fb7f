/// Which token of a grant APIs are shown (`bearer` in the configuration).
package enum BearerKind: String, Sendable, CaseIterable {
  case accessToken = "access_token"
  case idToken = "id_token"
}

extension Grant {
  /// The token that APIs are shown; the access token where the grant has no ID token.
  package func bearer(_ kind: BearerKind) -> Token {
    switch kind {
    case .accessToken: accessToken
    case .idToken: idToken ?? accessToken
    }
  }

  /// APIs are shown the ID token of the grant before, which a refresh need not renew (OIDC Core, section 12.2).
  package func keepsIDToken(of old: Grant, as kind: BearerKind) -> Bool {
    kind == .idToken && idToken != nil && idToken == old.idToken
  }
}
