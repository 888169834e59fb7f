package import HearthCore

/// What accounts.json remembers about one account, to distinguish a locked place from an empty one.
package struct KnownAccount: Hashable, Sendable {
  /// Where the credential is kept.
  package struct Place: Hashable, Sendable {
    /// The configured path, before a link is followed.
    package var path: String
    /// The identifier in the marker next to the credential.
    package var marker: String
  }

  /// A sign-out whose files could not be removed yet.
  package struct PendingRemoval: Codable, Hashable, Sendable {
    /// The fingerprint of the access token that was signed out, or `nil` if it was unknown.
    package var fingerprint: Fingerprint?
    /// False if the user did not want a revocation, otherwise `nil`.
    package var revokes: Bool?
  }

  /// A place that the configuration named before. A sign-out also removes the credential there.
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
  /// The clock by which that grant got its times.
  package var clock: GrantClock?
  package var end: EndRecord?
  package var lockedByUser = false
  package var removal: PendingRemoval?
  /// As in `TokenNote`.
  package var barred: Fingerprint?
  package var rejected: Fingerprint?
  /// The earlier grants. They identify a grant that comes back, for example if a volume is mounted over the folder that
  /// holds a newer one.
  package var grants = GrantHistory()

  package init() {}
}

extension KnownAccount {
  /// The places other than `path` that may still hold a credential, once `path` is configured.
  func formerPlaces(besides path: String) -> [FormerPlace] {
    guard let place, place.path != path else { return formerPlaces }
    return formerPlaces.filter { $0.path != place.path } + [FormerPlace(path: place.path, fingerprint: fingerprint)]
  }

  /// Returns whether the recorded end is about this grant. An end because the file was missing or corrupt is about no
  /// grant: a grant that is found later is used.
  func isEnded(_ grant: Grant) -> Bool {
    guard let end, !end.reason.isAboutFile else { return false }
    if end.reason == .signedOut, formerPlaces.contains(where: { $0.fingerprint == grant.accessToken.fingerprint }) {
      return true
    }
    let names = [grant.accessToken.fingerprint, grant.refreshToken?.fingerprint, grant.idToken?.fingerprint]
    return fingerprint == grant.accessToken.fingerprint || end.fingerprint.map { names.contains($0) } ?? false
  }

  /// Records a new sign-in. The credentials that it replaces may still have to be removed.
  mutating func signedIn(_ credential: Credential) {
    subject = credential.subject
    fingerprint = credential.grant.accessToken.fingerprint
    grants.stored(credential.grant)
    end = nil
    removal = nil
  }

  /// Returns whether the session of this grant is over, so that reading it does not bring it back.
  func isOver(_ grant: Grant) -> Bool {
    isToBeRemoved(grant) || removal == nil && isEnded(grant) || grants.isOver(grant)
  }

  /// Returns whether the pending removal is about this grant. Without a known fingerprint it is about every grant.
  func isToBeRemoved(_ grant: Grant) -> Bool {
    guard let removal else { return false }
    let signedOut = [removal.fingerprint, fingerprint].compactMap { $0 }
    return signedOut.isEmpty || signedOut.contains(grant.accessToken.fingerprint) || grants.isOver(grant)
  }
}
