/// A grant that was signed out while its provider could not be asked to revoke it (RFC 7009).
package struct PendingRevocation: Hashable, Sendable {
  /// How long a provider is tried at most.
  package static let longest: Duration = .seconds(7 * 86_400)

  /// How it lies on the disk until then.
  package enum Keeping: Hashable, Sendable {
    /// Sealed with a key of the daemon's own.
    case ownKey
    /// Sealed with the key of the account's key file.
    case keyFile(String)
    /// In memory alone: the account's seal needs a person to open it, and no other may take its place on the disk.
    case memory
  }

  package let id: String
  package let account: AccountName
  /// With the tokens that are revoked, and the origins that they may be sent to.
  package let credential: Credential
  package let keeping: Keeping
  package let expiresAt: Timestamp

  package init(
    id: String, account: AccountName, credential: Credential, keeping: Keeping, expiresAt: Timestamp
  ) {
    self.id = id
    self.account = account
    self.credential = credential
    self.keeping = keeping
    self.expiresAt = expiresAt
  }

  /// Without what no revocation needs. It is of no use once the grant has run out by itself.
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

/// What came of asking a provider to revoke a grant (RFC 7009, section 2.2).
package enum RevocationOutcome: Hashable, Sendable {
  /// The provider confirmed it.
  case revoked
  /// It never will: it has no such call, or refuses this one. Why, in a sentence.
  case refused(message: String)
  /// It could not be asked now, or the configuration lets nothing be sent: later it may.
  case unavailable(retryAfter: Duration?)
}
