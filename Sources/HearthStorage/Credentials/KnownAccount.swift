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

  /// What was left where the configuration pointed before: sign-out removes that, too.
  package struct Leftover: Hashable, Sendable {
    package var path: String
    /// Of the access token of the grant that was last there.
    package var fingerprint: Fingerprint?
  }

  package var place: Place?
  package var leftovers: [Leftover] = []
  package var subject: Subject?
  /// Of the access token of the grant that was last seen or stored.
  package var fingerprint: Fingerprint?
  package var end: EndRecord?
  package var lockedByUser = false
  package var removal: Removal?

  package init() {}
}

extension KnownAccount {
  /// What may lie elsewhere once the credential is looked for at `path`.
  func leftovers(besides path: String) -> [Leftover] {
    guard let place, place.path != path else { return leftovers }
    return leftovers.filter { $0.path != place.path } + [Leftover(path: place.path, fingerprint: fingerprint)]
  }

  /// Whether a grant that is found is the one that the end was about. A grant that was lost and is back, or that
  /// could not be understood, is welcome.
  func isEnded(_ grant: Grant) -> Bool {
    guard let end, !end.reason.isAboutFile else { return false }
    if end.reason == .signedOut, leftovers.contains(where: { $0.fingerprint == grant.accessToken.fingerprint }) {
      return true
    }
    let names = [grant.accessToken.fingerprint, grant.refreshToken?.fingerprint, grant.idToken?.fingerprint]
    return fingerprint == grant.accessToken.fingerprint || end.fingerprint.map { names.contains($0) } ?? false
  }

  /// Whether a grant that is found is the one that is to be removed. One that cannot be told from it is.
  func isToBeRemoved(_ grant: Grant) -> Bool {
    guard let removal else { return false }
    let signedOut = [removal.fingerprint, fingerprint].compactMap { $0 }
    return signedOut.isEmpty || signedOut.contains(grant.accessToken.fingerprint)
  }
}
