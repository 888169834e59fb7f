/// Keeps one account's credential and what is remembered about the account.
///
/// Each account has its own object. Calls on it are never concurrent.
package protocol CredentialStore: Sendable {
  /// Returns what is known without reading the credential itself (accounts.json), or an empty value for a new account.
  func remembered() async throws(AccessFailure) -> RememberedAccount

  /// Reads the credential. Also repairs a marker or an entry in accounts.json that a crash left incomplete, and carries
  /// out a removal that was recorded while the file was out of reach. It never throws: failures are outcomes.
  func read() async -> CredentialReading

  /// Asks whether it is this process's turn to refresh. If so, the temporary file exists and its blocks are allocated.
  func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Replaces this version on disk by the credential (compare and set), whole and durable (fsync of file and folder),
  /// or leaves the old one. It never replaces an unreadable file.
  func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Writes the end of the session in place of the grant, and into accounts.json. Tries both even if one fails; a later
  /// `read` repeats what failed.
  func writeEnd(_ record: EndRecord) async throws(EndNotWritten)

  /// Signs out: records the removal in accounts.json, then removes the credential. If the file is out of reach this
  /// throws, and a later `read` carries out the removal, unless it finds a different grant. That `read` returns what it
  /// has removed if `revokes` is true. `fingerprint` is that of the access token of the signed-out grant, if known.
  @discardableResult
  func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials

  /// Moves a file that cannot be parsed to another name in its folder, and returns its new path.
  func setAside() async throws(AccessFailure) -> String

  /// Remembers across restarts whether the user has locked the account.
  func remember(lockedByUser: Bool) async throws(AccessFailure)

  /// Remembers this across restarts.
  func remember(_ note: TokenNote) async throws(AccessFailure)

  /// Whether the account has a passphrase and its key is not in memory, so that nothing can be sealed until `unlock`.
  func needsPassphrase() async -> Bool

  /// Makes the key of a sealed credential available, or sets the passphrase if nothing is sealed yet.
  func unlock(passphrase: Secret) async throws(UnlockFailure)

  /// Removes the key from memory.
  func lock() async

  /// Yields a hint when the file, its folder or its key may have changed and has to be read. Ends with the store.
  func changes() -> AsyncStream<Void>
}

/// The version that a new version of the credential replaces.
package enum StoredVersion: Hashable, Sendable {
  /// A sign-in replaces any version.
  case any
  /// The grant that was last read or written, or `nil` if there was none.
  case grant(GrantMarks?)
}

/// Whether it was the caller's turn to write.
package enum WriteTurn: Hashable, Sendable {
  case given
  /// Another program has stored another grant, which has to be read first. Nothing was written.
  case superseded
}

/// What is remembered about a token.
package enum TokenNote: Hashable, Sendable {
  /// The grant with this access token must not be refreshed, because the provider answered its refresh for another user.
  case barred(Fingerprint)
  /// An API has rejected this token, and it is not given out while a refresh could replace it. `nil` if an API accepts
  /// the token that was rejected last.
  case rejected(Fingerprint?)
}

package struct RememberedAccount: Hashable, Sendable {
  package var subject: Subject?
  package var lockedByUser: Bool
  package var end: EndRecord?
  /// As in `TokenNote`.
  package var barred: Fingerprint?
  package var rejected: Fingerprint?
  /// How far the clock has been set since the stored grant got its times, or `nil` if that is unknown.
  package var clockStep: ClockStep?

  package init(
    subject: Subject? = nil, lockedByUser: Bool = false, end: EndRecord? = nil, barred: Fingerprint? = nil,
    rejected: Fingerprint? = nil, clockStep: ClockStep? = nil
  ) {
    (self.subject, self.lockedByUser, self.end) = (subject, lockedByUser, end)
    (self.barred, self.rejected, self.clockStep) = (barred, rejected, clockStep)
  }
}

package enum CredentialReading: Hashable, Sendable {
  case found(Credential)
  /// Found, but this account had already replaced it: a backup or a sync program has put it back.
  case former(Credential)
  /// Found, but its protection differs from the configuration, so it has to be written again at once.
  case misprotected(Credential)
  /// The session has ended, and the end is on record. `removed` is what this reading removed for an earlier sign-out.
  case ended(EndRecord, removed: RemovedCredentials = RemovedCredentials())
  case neverSignedIn
  /// The folder can be read and the credential is gone from it. The text says where it was.
  case missing(String)
  case unreadable(AccessFailure)
  /// The file is not a valid credential file. The text says why.
  case corrupt(String)
  /// The file is in a newer format than this version can read.
  case tooNew(version: Int)

  var removed: RemovedCredentials { if case .ended(_, let removed) = self { removed } else { RemovedCredentials() } }
}

/// The credentials that a sign-out removed and could open, so that they can be revoked.
package struct RemovedCredentials: Hashable, Sendable {
  package var current: Credential?
  /// Credentials from places that the configuration named before.
  package var former: [Credential]
  /// Why the removal is not on record, or `nil` if it is.
  package var unrecorded: AccessFailure?

  package init(current: Credential? = nil, former: [Credential] = [], unrecorded: AccessFailure? = nil) {
    (self.current, self.former, self.unrecorded) = (current, former, unrecorded)
  }
}

/// Why the end of a session is not fully on record.
package enum EndNotWritten: Error, Hashable, Sendable {
  /// The end is recorded in one of its two places, so the session stays ended even after a crash.
  case partly(AccessFailure)
  /// The end is not recorded in either place, so a crash would bring the session back.
  case nowhere(AccessFailure)

  package var accessFailure: AccessFailure {
    switch self {
    case .partly(let accessFailure), .nowhere(let accessFailure): accessFailure
    }
  }
}

package enum UnlockFailure: Error, Hashable, Sendable {
  case wrongPassphrase
  /// There were too many wrong passphrases. Ask again after this time.
  case tooSoon(Duration)
  case unavailable(AccessFailure)
  /// The account's protection is not `passphrase`.
  case notSealed
}
