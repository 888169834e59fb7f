/// What is known of the credential.
///
/// Legal transitions, beside those to `adopting` (a person signs in) and `ending` (a session ends), which every case
/// allows:
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
  /// Not read yet, or to be read again.
  case unread
  /// There is one; a lock keeps it out of memory.
  case withheld
  case unreadable(AccessFailure)
  /// It is in memory, and in use unless a lock forbids that.
  case active(ActiveGrant)
  /// There is none and nobody need sign in: the client's own first grant is asked for (RFC 6749, section 4.4).
  case starting(isInFlight: Bool)
  /// A grant of a new sign-in, or the client's own first one, is on its way to the disk; nobody sees it before it is
  /// there.
  case adopting(Adoption)
  /// The end is being written down; until it is, clients see what they saw.
  case ending(EndRecord, shownAs: SessionState)
  case ended(EndRecord)
  case absent(signedOut: Bool)

  /// What the end on record makes of it.
  init(_ end: EndRecord) {
    self = end.reason == .signedOut ? .absent(signedOut: true) : .ended(end)
  }

  var isAdopting: Bool {
    if case .adopting = self { true } else { false }
  }

  var isEnding: Bool {
    if case .ending = self { true } else { false }
  }
}

/// A grant of a new sign-in that is being written.
package struct Adoption: Hashable, Sendable {
  package internal(set) var credential: Credential
  var timing: GrantTiming
  /// The user's own lock is removed with it, where it was set before the sign-in began and not again since.
  var unlocks: Bool
  /// The provider has granted it just now.
  let isFresh: Bool
  /// What clients see until it is on disk.
  let shownAs: SessionState
}
