/// A grant that still has to be revoked (RFC 7009), for example because its provider was unavailable when the user
/// signed out.
package struct PendingRevocation: Hashable, Sendable {
  /// The maximum time for which a revocation is retried.
  package static let longest: Duration = .seconds(7 * 86_400)

  /// How the grant is stored in the meantime.
  package enum Keeping: Hashable, Sendable {
    /// Sealed with the daemon's own key.
    case ownKey
    /// Sealed with the key of the account's key file.
    case keyFile(String)
    /// Only in memory. The account's seal depends on a passphrase or the secret service, and the grant must not be
    /// stored with less protection.
    case memory
  }

  package let id: String
  package let account: AccountName
  /// The tokens to revoke and the origins that may receive them.
  package let credential: Credential
  package let keeping: Keeping
  package let expiresAt: Timestamp

  package init(
    id: String, account: AccountName, credential: Credential, keeping: Keeping, expiresAt: Timestamp
  ) {
    (self.id, self.account, self.credential) = (id, account, credential)
    (self.keeping, self.expiresAt) = (keeping, expiresAt)
  }

  /// Creates a revocation from a credential, without the ID token. The revocation expires no later than the grant.
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

/// The result of a revocation request (RFC 7009, section 2.2).
package enum RevocationOutcome: Hashable, Sendable {
  case revoked
  /// The provider does not revoke the grant, for example because it has no revocation endpoint. The message is a
  /// sentence.
  case refused(message: String)
  /// The provider is unavailable, or the configuration is wrong. A later attempt may succeed.
  case unavailable(retryAfter: Duration?)
}
