/// A grant that was signed out while its provider could not be asked to revoke it (RFC 7009).
package struct PendingRevocation: Hashable, Sendable {
  /// The longest time for which a revocation is retried.
  package static let longest: Duration = .seconds(7 * 86_400)

  /// How it is stored until then.
  package enum Keeping: Hashable, Sendable {
    /// Sealed with the daemon's own key.
    case ownKey
    /// Sealed with the key of the account's key file.
    case keyFile(String)
    /// Only in memory: the account's seal needs a user to open it, and no other seal may replace it on disk.
    case memory
  }

  package let id: String
  package let account: AccountName
  /// The tokens to revoke, and the origins that they may be sent to.
  package let credential: Credential
  package let keeping: Keeping
  package let expiresAt: Timestamp

  package init(
    id: String, account: AccountName, credential: Credential, keeping: Keeping, expiresAt: Timestamp
  ) {
    (self.id, self.account, self.credential) = (id, account, credential)
    (self.keeping, self.expiresAt) = (keeping, expiresAt)
  }

  /// Keeps only what a revocation needs. It is no longer needed once the grant has expired.
  package init(of signedOut: Credential, _ account: AccountName, id: String, keeping: Keeping, at now: Timestamp) {
    var credential = signedOut
    credential.grant.idToken = nil
    let grant = credential.grant
    let end = grant.refreshToken == nil ? grant.expiresAt : grant.refreshExpiresAt
    let latest = now + Self.longest
    self.init(
      id: id, account: account, credential: credential, keeping: keeping,
      expiresAt: Swift.min(end ?? latest, latest))
  }
}

/// The result of asking a provider to revoke a grant (RFC 7009, section 2.2).
package enum RevocationOutcome: Hashable, Sendable {
  /// The provider confirmed it.
  case revoked
  /// The provider will never revoke it: it has no revocation endpoint, or refuses. The message is a sentence.
  case refused(message: String)
  /// The provider could not be asked now, or the configuration allows no request. It may work later.
  case unavailable(retryAfter: Duration?)
}
