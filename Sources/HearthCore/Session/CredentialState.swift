/// What is known about the credential.
///
/// Every case also allows `adopting` (a user signs in) and `ending` (a session ends). The other legal transitions:
///
///     unread → withheld, unreadable, active, starting, ended, absent
///     withheld → unread                      the lock is removed
///     unreadable → active, withheld, starting, ended, absent
///     active → withheld, unreadable          a lock wipes it
///     active → ended                         a newer version wrote in its place, and it expired
///     active → starting                      the file of the client's own grant is gone
///     starting → withheld, ended
///     adopting → active
///     ending → ended, absent
///     ended, absent → active, withheld       another program's grant is found
///     ended, absent → starting               the client's own grant is asked for again
package enum CredentialState: Hashable, Sendable {
  /// The credential has not been read, or has to be read again.
  case unread
  /// There is a credential, and a lock keeps it out of memory.
  case withheld
  case unreadable(AccessFailure)
  /// The credential is in memory, and in use unless a lock forbids that.
  case active(ActiveGrant)
  /// No user has to sign in: the client's own first grant is requested (RFC 6749, section 4.4).
  case starting(isInFlight: Bool)
  /// A grant of a new sign-in, or the client's own first one, is being written, and not visible until then.
  case adopting(Adoption)
  /// The end is being written. Until it is, clients see the previous state.
  case ending(EndRecord, shownAs: SessionState)
  case ended(EndRecord)
  case absent(signedOut: Bool)

  /// The state that follows from the end on record.
  init(_ end: EndRecord) { self = end.reason == .signedOut ? .absent(signedOut: true) : .ended(end) }

  var isAdopting: Bool { if case .adopting = self { true } else { false } }

  var isEnding: Bool { if case .ending = self { true } else { false } }
}

/// The grant of a new sign-in that is being written.
package struct Adoption: Hashable, Sendable {
  package internal(set) var credential: Credential
  var timing: GrantTiming
  /// Whether it removes the user's own lock, because that was set before the sign-in began and not again since.
  var unlocks: Bool
  /// Whether the provider has granted it just now.
  let isFresh: Bool
  /// The state that clients see until it is on disk.
  let shownAs: SessionState
}
