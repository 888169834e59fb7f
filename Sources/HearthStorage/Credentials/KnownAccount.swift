package import HearthCore

/// What accounts.json remembers of one account, so that a locked place is told from an empty one.
package struct KnownAccount: Hashable, Sendable {
  /// Where a credential was last seen or stored; nil: there is none to be looked for.
  package struct Place: Hashable, Sendable {
    /// As it is configured, before a link is followed.
    package var path: String
    /// The identifier in the marker beside the credential.
    package var marker: String
  }

  /// A sign-out that could not yet be carried out.
  package struct Removal: Hashable, Sendable {
    /// Of the access token of the grant that was signed out, where it was known.
    package var fingerprint: Fingerprint?
  }

  package var place: Place?
  package var subject: Subject?
  /// Of the access token of the grant that was last seen or stored.
  package var fingerprint: Fingerprint?
  package var end: EndRecord?
  package var lockedByUser = false
  package var removal: Removal?

  package init() {}
}

extension KnownAccount {
  /// Whether a grant that is found is the one that the end was about. A grant that was lost and is back, or that
  /// could not be understood, is welcome.
  func isEnded(_ grant: Grant) -> Bool {
    guard let end else { return false }
    switch end.reason {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: return false
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer,
      .accountDisabled:
      let names = [grant.accessToken.fingerprint, grant.refreshToken?.fingerprint, grant.idToken?.fingerprint]
      return fingerprint == grant.accessToken.fingerprint || end.fingerprint.map { names.contains($0) } ?? false
    }
  }

  /// Whether a grant that is found is the one that is to be removed. One that cannot be told from it is.
  func isToBeRemoved(_ grant: Grant) -> Bool {
    guard let removal else { return false }
    let signedOut = [removal.fingerprint, fingerprint].compactMap { $0 }
    return signedOut.isEmpty || signedOut.contains(grant.accessToken.fingerprint)
  }
}
