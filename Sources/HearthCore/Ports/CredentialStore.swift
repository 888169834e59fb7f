/// Stores one account's credential, and the facts that Hearth remembers about the account (accounts.json).
///
/// Each account has its own store, whose methods are never called concurrently.
package protocol CredentialStore: Sendable {
  /// Returns what accounts.json records about the account, or an empty value for a new account.
  func remembered() async throws(AccessFailure) -> RememberedAccount

  /// Reads the credential. Also repairs a marker or an entry in accounts.json that a crash left incomplete, and
  /// completes a removal that was recorded while the file was inaccessible.
  func read() async -> CredentialReading

  /// Reserves disk space for the next version with a temporary file, unless another program has replaced `version`.
  func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Replaces `version` on disk with the credential, atomically and durably (fsync of file and folder). Sets aside a
  /// file that cannot be parsed. Throws if the file cannot be read.
  func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn

  /// Records the end of the session in accounts.json and in the credential file, unless the file contains another
  /// grant or has a newer format. Attempts both writes even if one fails. A later `read` repeats a write that failed.
  func writeEnd(_ record: EndRecord) async throws(EndNotWritten)

  /// Signs out: records the removal in accounts.json, then removes the credential. Throws `partly` if the file is
  /// inaccessible. In that case, a later `read` removes the credential, unless the file then contains a different
  /// grant. If `revokes` is true, that `read` also returns the removed credential. `fingerprint` identifies the
  /// signed-out access token, if known.
  @discardableResult
  func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials

  /// Sets aside a file that cannot be parsed by renaming it within its folder, and returns the new path.
  func setAside() async throws(AccessFailure) -> String

  /// Saves whether the user has locked the account.
  func remember(lockedByUser: Bool) async throws(AccessFailure)

  /// Saves the note, so that it survives a restart.
  func remember(_ note: TokenNote) async throws(AccessFailure)

  /// Returns whether the configuration requires a passphrase that has not been entered. If so, call `unlock` first.
  func needsPassphrase() async -> Bool

  /// Makes the key of a sealed credential available, or sets the passphrase if nothing is sealed with one yet. Returns
  /// false if neither the stored credential nor the configuration uses a passphrase. Throws `wrongPassphrase`, with
  /// `retryAfter` if the store did not check the passphrase because of earlier wrong ones, or the failure that makes
  /// the credential inaccessible.
  @discardableResult
  func unlock(passphrase: Secret) async throws(Failure) -> Bool

  /// Removes the key from memory, and frees the disk space reserved by `prepare`.
  func lock() async

  /// Returns a stream that yields when the file, its folder or its key may have changed. The stream ends when the
  /// consuming task is cancelled.
  func changes() -> AsyncStream<Void>
}

/// The stored version that a write replaces.
package enum StoredVersion: Hashable, Sendable {
  /// Any version. Used to store the grant of a new sign-in.
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
  /// How much the clock has been adjusted since the stored grant got its times. Zero after a reboot; `nil` if unknown.
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
  /// The session has ended, and the end is on record. `removed` contains the credentials that this read removed to
  /// complete a sign-out.
  case ended(EndRecord, removed: RemovedCredentials = RemovedCredentials())
  case neverSignedIn
  /// The folder can be read, but the credential is gone. The string says what is missing.
  case missing(String)
  case unreadable(AccessFailure)
  /// The file is not a valid credential file. The string says why.
  case corrupt(String)
  /// The file is in a newer format than this version can read.
  case tooNew(version: Int)

  /// How a credential that was found relates to the account's earlier credentials.
  package enum Standing: Hashable, Sendable {
    case current
    /// The account has already replaced this grant. A backup or a sync program may have restored it.
    case former
    /// The credential's protection differs from the configured one, so it has to be rewritten immediately.
    case misprotected
  }

  var removed: RemovedCredentials { if case .ended(_, let removed) = self { removed } else { RemovedCredentials() } }
}

/// The credentials that a sign-out removed. Contains only credentials that could be opened, because the others cannot
/// be revoked.
package struct RemovedCredentials: Hashable, Sendable {
  package var current: Credential?
  /// The credentials at previously configured paths.
  package var former: [Credential]
  /// The reason why the removal could not be recorded, or `nil` if it was recorded.
  package var unrecorded: AccessFailure?

  package init(current: Credential? = nil, former: [Credential] = [], unrecorded: AccessFailure? = nil) {
    (self.current, self.former, self.unrecorded) = (current, former, unrecorded)
  }
}

extension AccessFailure {
  /// Converts an error of a store. Only an access failure says more than that the storage failed.
  package init(_ error: any Error) { self = error as? Self ?? Self(.storageError, detail: "\(error)") }
}

/// The reason why the end of a session is not fully recorded.
package enum EndNotWritten: Error, Hashable, Sendable {
  /// One of the two files (the credential file or accounts.json) records the end, so the session stays ended even after
  /// a crash.
  case partly(AccessFailure)
  /// Neither file records the end, so a crash would bring the session back.
  case nowhere(AccessFailure)

  package var accessFailure: AccessFailure {
    switch self {
    case .partly(let accessFailure), .nowhere(let accessFailure): accessFailure
    }
  }
}
