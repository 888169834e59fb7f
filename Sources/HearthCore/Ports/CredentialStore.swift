/// Where one account's credential is kept, and what is remembered of it.
///
/// One object an account. Calls on it are never made at the same time.
package protocol CredentialStore: Sendable {
  /// What is known without reading the credential itself (accounts.json); empty where the account is new.
  func remembered() async throws(AccessFailure) -> RememberedAccount

  /// Reads the credential, repairs a marker or an entry in accounts.json that a crash left incomplete, and carries out a
  /// removal that was recorded while the file was out of reach. Never fails: a failure is an outcome.
  func read() async -> CredentialReading

  /// Asks for the turn to refresh. Where it is given, `write` will have room and access: the temporary file is created
  /// and its blocks are allocated.
  func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Puts the credential on disk in the place of this version (compare and set), whole and durable (fsync of file and
  /// folder), or leaves the old one. An unreadable file is never replaced.
  func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Writes the end of the session in place of the grant, and into accounts.json. Each of the two is tried, even where
  /// the other failed; a later `read` repeats what failed.
  func writeEnd(_ record: EndRecord) async throws(EndNotWritten)

  /// Sign-out: records the removal in accounts.json, then removes the credential. Where the file is out of reach this
  /// throws, and a later `read` carries out the removal, unless it finds a different grant.
  /// `fingerprint`: of the access token of the grant that is signed out, where it is known.
  @discardableResult
  func remove(_ record: EndRecord, fingerprint: Fingerprint?) async throws(EndNotWritten) -> RemovedCredentials

  /// Moves a file that cannot be understood to a name beside it, and returns its new path.
  func setAside() async throws(AccessFailure) -> String

  /// Remembers the user's own lock across restarts.
  func remember(lockedByUser: Bool) async throws(AccessFailure)

  /// Whether the account is protected by a passphrase and its key is not in memory: nothing can be sealed until `unlock`.
  func needsPassphrase() async -> Bool

  /// Makes the key of a sealed credential available, or sets the passphrase where nothing is sealed yet.
  func unlock(passphrase: Secret) async throws(UnlockFailure)

  /// Removes the key from memory.
  func lock() async

  /// Hints that the file, its folder or its key may have changed; each asks for one `read`. Ends with the store.
  func changes() -> AsyncStream<Void>
}

/// What a new version of the credential grows from.
package enum StoredVersion: Hashable, Sendable {
  /// A sign-in: it takes the place of whatever is there.
  case any
  /// The grant that was there when it was last read or written; nil where there was none.
  case grant(GrantMarks?)
}

/// Whether it was the caller's turn to write.
package enum WriteTurn: Hashable, Sendable {
  case given
  /// Another program has put another grant there, which is to be read first. Nothing was written.
  case superseded
}

package struct RememberedAccount: Hashable, Sendable {
  package var subject: Subject?
  package var lockedByUser: Bool
  package var end: EndRecord?
  /// What the session before this one, in the same process, has left.
  package var unwritten: UnwrittenGrant?

  package init(
    subject: Subject? = nil, lockedByUser: Bool = false, end: EndRecord? = nil, unwritten: UnwrittenGrant? = nil
  ) {
    self.subject = subject
    self.lockedByUser = lockedByUser
    self.end = end
    self.unwritten = unwritten
  }
}

package enum CredentialReading: Hashable, Sendable {
  case found(Credential)
  /// Found, and it was this account's own before another one took its place: a backup or a sync program has put it back.
  case former(Credential)
  /// Found, but protected in another way than the configuration says: it has to be written anew at once.
  case misprotected(Credential)
  /// The session has ended, and that is on record.
  case ended(EndRecord)
  case neverSignedIn
  /// The folder can be read and the credential is gone from it; the text says where it was.
  case missing(String)
  case unreadable(AccessFailure)
  /// The file is not a valid credential file; the text says why.
  case corrupt(String)
  /// Written by a newer version of the format.
  case tooNew(version: Int)
}

/// The credentials that a sign-out removed and could open, so that they can be revoked.
package struct RemovedCredentials: Hashable, Sendable {
  package var current: Credential?
  /// From places that the configuration named before.
  package var former: [Credential]

  package init(current: Credential? = nil, former: [Credential] = []) {
    self.current = current
    self.former = former
  }
}

/// Why the end of a session is not fully on record.
package enum EndNotWritten: Error, Hashable, Sendable {
  /// The end is on record in one of its two places, so that the session is ended after a crash as well.
  case partly(AccessFailure)
  /// The end is on record nowhere: after a crash the session would be there again.
  case nowhere(AccessFailure)

  package var accessFailure: AccessFailure {
    switch self {
    case .partly(let accessFailure), .nowhere(let accessFailure): accessFailure
    }
  }
}

package enum UnlockFailure: Error, Hashable, Sendable {
  case wrongPassphrase
  /// There were too many wrong ones; ask again after this time.
  case tooSoon(Duration)
  case unavailable(AccessFailure)
  /// The account's protection is not `passphrase`.
  case notSealed
}
