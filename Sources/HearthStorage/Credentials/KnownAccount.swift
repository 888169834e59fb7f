package import HearthCore

/// What accounts.json records about one account, to distinguish an inaccessible credential from a missing one.
package struct KnownAccount: Hashable, Sendable {
  package struct Place: Hashable, Sendable {
    /// The configured or default path, with symbolic links unresolved.
    package var path: String
    /// The identifier in the marker next to the credential.
    package var marker: String
  }

  /// A sign-out whose files could not be removed yet.
  package struct PendingRemoval: Codable, Hashable, Sendable {
    /// The fingerprint of the access token that was signed out, or `nil` if it was unknown.
    package var fingerprint: Fingerprint?
    /// False if the user declined the revocation, otherwise `nil`.
    package var revokes: Bool?
  }

  /// A path that the account used earlier. A sign-out also removes the credential there.
  package struct FormerPlace: Codable, Hashable, Sendable {
    package var path: String
    /// The fingerprint of the access token that was last there.
    package var fingerprint: Fingerprint?
  }

  /// Where the credential was last seen or stored, or `nil` if none is expected.
  package var place: Place?
  package var formerPlaces: [FormerPlace] = []
  package var subject: Subject?
  /// The fingerprint of the access token that was last seen or stored.
  package var fingerprint: Fingerprint?
  /// The state of the clock when the current grant got its times.
  package var clock: GrantClock?
  package var end: EndRecord?
  package var lockedByUser = false
  package var removal: PendingRemoval?
  /// The token of `TokenNote.barred`.
  package var barred: Fingerprint?
  /// The token of `TokenNote.rejected`.
  package var rejected: Fingerprint?
  /// The current and earlier grants, so that Hearth recognizes an earlier grant that reappears, for example because an
  /// old volume is mounted over the folder with the current one.
  package var grants = GrantHistory()

  package init() {}
}

extension KnownAccount {
  /// Returns the places other than `path` that may still contain a credential.
  func formerPlaces(besides path: String) -> [FormerPlace] {
    guard let place, place.path != path else { return formerPlaces }
    return formerPlaces.filter { $0.path != place.path } + [FormerPlace(path: place.path, fingerprint: fingerprint)]
  }

  /// Returns whether the recorded end applies to this grant. An end caused by a missing or corrupt file does not apply
  /// to any grant, so that Hearth uses a grant that it finds later.
  func isEnded(_ grant: Grant) -> Bool {
    guard let end, !end.reason.isAboutFile else { return false }
    if end.reason == .signedOut, formerPlaces.contains(where: { $0.fingerprint == grant.accessToken.fingerprint }) {
      return true
    }
    return fingerprint == grant.accessToken.fingerprint || GrantMarks(grant).contains(end.fingerprint)
  }

  /// Records a stored credential. Keeps the former places, because their credentials may still have to be removed.
  mutating func signedIn(_ credential: Credential) {
    subject = credential.subject
    fingerprint = credential.grant.accessToken.fingerprint
    grants.stored(credential.grant)
    end = nil
    removal = nil
  }

  /// Returns whether this grant's session is over, so that the grant must not be used again.
  func isOver(_ grant: Grant) -> Bool {
    isToBeRemoved(grant) || removal == nil && isEnded(grant) || grants.isOver(grant)
  }

  /// Returns whether the pending removal applies to this grant. Without a known fingerprint, it applies to every grant.
  func isToBeRemoved(_ grant: Grant) -> Bool {
    guard let removal else { return false }
    let signedOut = [removal.fingerprint, fingerprint].compactMap { $0 }
    return signedOut.isEmpty || signedOut.contains(grant.accessToken.fingerprint) || grants.isOver(grant)
  }
}
