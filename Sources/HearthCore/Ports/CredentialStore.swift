/// Stores one account's credential and what Hearth remembers about the account.
///
/// Each account has its own store, whose methods are never called concurrently.
package protocol CredentialStore: Sendable {
  /// Returns what accounts.json records about the account, or an empty value for a new account.
  func remembered() async throws(AccessFailure) -> RememberedAccount

  /// Reads the credential. Also repairs a marker or an entry in accounts.json that a crash left incomplete, and
  /// completes a removal that was recorded while the file was inaccessible.
  func read() async -> CredentialReading

  /// Reserves disk space for the next version in a temporary file, unless another program has replaced `version`.
  func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Replaces `version` on disk with the credential, atomically and durably (fsync of file and folder). Never replaces
  /// an unreadable file.
  func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Replaces the grant on disk with the end of the session, and records the end in accounts.json. Attempts both even
  /// if one fails. A later `read` repeats the write that failed.
  func writeEnd(_ record: EndRecord) async throws(EndNotWritten)

  /// Signs out: records the removal in accounts.json, then removes the credential. Throws if the file is inaccessible.
  /// A later `read` then removes the credential, unless it finds a different grant, and returns what it removed if
  /// `revokes` is true. `fingerprint` identifies the signed-out access token, if known.
  @discardableResult
  func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials

  /// Renames a file that cannot be parsed, within its folder. Returns the new path.
  func setAside() async throws(AccessFailure) -> String

  /// Saves whether the user has locked the account.
  func remember(lockedByUser: Bool) async throws(AccessFailure)

  /// Saves the note, so that it applies after a restart, too.
  func remember(_ note: TokenNote) async throws(AccessFailure)

  /// Returns whether the account requires a passphrase that has not been entered, so that `unlock` must come first.
  func needsPassphrase() async -> Bool

  /// Makes the key of a sealed credential available, or sets the passphrase if nothing is sealed yet.
  func unlock(passphrase: Secret) async throws(UnlockFailure)

  /// Removes the key from memory.
  func lock() async

  /// Returns a stream that yields when the file, its folder or its key may have changed. It ends with the store.
  func changes() -> AsyncStream<Void>
}

/// The stored version that a write replaces.
package enum StoredVersion: Hashable, Sendable {
  /// A sign-in replaces any version.
  case any
  /// The grant that was last read or written, or `nil` if there was none.
  case grant(GrantMarks?)
}

/// Whether the caller was allowed to write.
package enum WriteTurn: Hashable, Sendable {
  case given
  /// Nothing was written, because another program has stored a grant that has to be read first.
  case superseded
}

/// A fact about a token that Hearth remembers across restarts.
package enum TokenNote: Hashable, Sendable {
  /// The grant with this access token must not be refreshed, because a refresh returned another user's token.
  case barred(Fingerprint)
  /// An API has rejected this token, so it is not used while a refresh could replace it. `nil` if an API accepts the
  /// last rejected token again.
  case rejected(Fingerprint?)
}

package struct RememberedAccount: Hashable, Sendable {
  package var subject: Subject?
  package var lockedByUser: Bool
  package var end: EndRecord?
  /// The token of `TokenNote.barred`.
  package var barred: Fingerprint?
  /// The token of `TokenNote.rejected`.
  package var rejected: Fingerprint?
  /// How far the clock was set after the stored grant's times were recorded, or `nil` if unknown.
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
  case found(Credential, Standing = .current)
  /// The session has ended, and the end is on record. `removed` contains what this read removed to finish a sign-out.
  case ended(EndRecord, removed: RemovedCredentials = RemovedCredentials())
  case neverSignedIn
  /// The folder can be read, but the credential is gone. The string says where it was.
  case missing(String)
  case unreadable(AccessFailure)
  /// The file is not a valid credential file. The string says why.
  case corrupt(String)
  /// The file is in a newer format than this version can read.
  case tooNew(version: Int)

  /// How a credential that was found relates to those that this account had before.
  package enum Standing: Hashable, Sendable {
    case current
    /// The account had already replaced this grant. A backup or a sync program has restored it.
    case former
    /// The credential's protection differs from the configured one, so it has to be rewritten immediately.
    case misprotected
  }

  var removed: RemovedCredentials { if case .ended(_, let removed) = self { removed } else { RemovedCredentials() } }
}

/// The credentials that a sign-out removed. Contains only those that could be opened, and so can be revoked.
package struct RemovedCredentials: Hashable, Sendable {
  package var current: Credential?
  /// The credentials at previously configured paths.
  package var former: [Credential]
  /// Why the removal could not be recorded, or `nil` if it is on record.
  package var unrecorded: AccessFailure?

  package init(current: Credential? = nil, former: [Credential] = [], unrecorded: AccessFailure? = nil) {
    (self.current, self.former, self.unrecorded) = (current, former, unrecorded)
  }
}

/// Why the end of a session is not fully on record.
package enum EndNotWritten: Error, Hashable, Sendable {
  /// Only the credential file or only accounts.json records the end, so the session stays ended even after a crash.
  case partly(AccessFailure)
  /// Neither file records the end, so a crash would bring the session back.
  case nowhere(AccessFailure)

  package var accessFailure: AccessFailure {
    switch self {
    case .partly(let accessFailure), .nowhere(let accessFailure): accessFailure
    }
  }
}

package enum UnlockFailure: Error, Hashable, Sendable {
  case wrongPassphrase
  /// Too many passphrases were wrong. Try again after this time.
  case tooSoon(Duration)
  case unavailable(AccessFailure)
  /// The account's protection is not `passphrase`.
  case notSealed
}
