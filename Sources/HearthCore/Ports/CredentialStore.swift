/// Where one account's credential is kept, and what is remembered of it.
///
/// One object an account. Calls on it are never made at the same time.
package protocol CredentialStore: Sendable {
  /// What is known without the credential itself (accounts.json); nothing where the account is new.
  func remembered() async throws(AccessFailure) -> RememberedAccount

  /// Reads the credential, heals a marker or a memory that a crash left behind, and finishes a removal that was
  /// noted while the file was out of reach. Never fails: what could not be read, or not be removed, is an outcome.
  func read() async -> CredentialReading

  /// Makes sure that `write` will find room and access: the file aside is made and its blocks are allocated.
  func prepare() async throws(AccessFailure)

  /// Puts the credential on disk, whole and durable (fsync of file and folder), or leaves the old one.
  /// An unreadable file is never replaced.
  func write(_ credential: Credential) async throws(AccessFailure)

  /// Puts the end of the session in place of the grant, and in accounts.json. Each of the two is tried, whatever became
  /// of the other; what is missing is made good for by a later `read`.
  func writeEnd(_ record: EndRecord) async throws(EndNotWritten)

  /// Sign-out: notes the removal in accounts.json, then removes the credential. Where the file is out of reach this
  /// throws, and the removal is done by a later `read`, unless a different grant is found then.
  /// `fingerprint`: of the access token of the grant that is signed out, where it is known.
  @discardableResult
  func remove(_ record: EndRecord, fingerprint: Fingerprint?) async throws(EndNotWritten) -> RemovedCredentials

  /// Moves a file that cannot be understood to a name beside it, and says which.
  func setAside() async throws(AccessFailure) -> String

  /// Remembers the user's own lock across restarts.
  func remember(lockedByUser: Bool) async throws(AccessFailure)

  /// Whether the account is protected by a passphrase and its key is not held: until `unlock` nothing can be sealed.
  func needsPassphrase() async -> Bool

  /// Opens a sealed credential, or, where nothing is sealed yet, sets the passphrase for the first sign-in.
  func unlock(passphrase: Secret) async throws(UnlockFailure)

  /// Forgets the key and wipes it from memory.
  func lock() async

  /// Hints that the file, its folder or its key may have changed; each asks for one `read`. Ends with the store.
  func changes() -> AsyncStream<Void>
}

package struct RememberedAccount: Hashable, Sendable {
  package var subject: Subject?
  package var lockedByUser: Bool
  package var end: EndRecord?
  /// Of the session before this one, in the same process.
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
  /// Found, but sealed otherwise than the configuration says: it is to be written anew at once.
  case misprotected(Credential)
  /// The session is over, and that is on record.
  case ended(EndRecord)
  case neverSignedIn
  /// The place can be read and the credential is gone from it; the text says where it was.
  case missing(String)
  case unreadable(AccessFailure)
  /// No credential file in form; the text says what is wrong.
  case corrupt(String)
  /// Written by a newer version of the format.
  case tooNew(version: Int)
}

/// What a sign-out took from the disk and could open, so that it can be revoked.
package struct RemovedCredentials: Hashable, Sendable {
  package var current: Credential?
  /// From where the configuration pointed before.
  package var former: [Credential]

  package init(current: Credential? = nil, former: [Credential] = []) {
    self.current = current
    self.former = former
  }
}

/// Why the end of a session is not written down as it should be.
package enum EndNotWritten: Error, Hashable, Sendable {
  /// It is on record in one place, and the session is over after a crash, too.
  case partly(AccessFailure)
  /// It is on record nowhere: a crash now, and the session is there again.
  case nowhere(AccessFailure)

  package var accessFailure: AccessFailure {
    switch self {
    case .partly(let accessFailure), .nowhere(let accessFailure): accessFailure
    }
  }
}

package enum UnlockFailure: Error, Hashable, Sendable {
  case wrongPassphrase
  /// Too many wrong ones; ask again after this.
  case tooSoon(Duration)
  case unavailable(AccessFailure)
  /// The account's protection is not `passphrase`.
  case notSealed
}
