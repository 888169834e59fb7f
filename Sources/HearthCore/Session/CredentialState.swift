/// What is known about the credential.
///
/// Every state can also change to `adopting` (a new grant is written) and `ending` (a session ends). Other legal
/// transitions:
///
///     notHeld → active, starting, ended, absent, or another reason for notHeld
///     active → notHeld                       a lock wipes it
///     active → ended                         a newer version of Hearth wrote the file, and the token expired
///     active → starting                      the client has to request its own grant again
///     starting → notHeld, active, ended
///     adopting → active
///     ending → ended, absent
///     ended, absent → active, notHeld        a grant is found, or the provider was changed
///     ended → absent                         the newer version's file is gone, and the user had signed out
///     ended, absent → starting               the client's own grant is requested again
package enum CredentialState: Hashable, Sendable {
  /// A credential exists, or may exist, but it is not in memory.
  case notHeld(NotHeld)
  /// The credential is in memory, and in use unless the session is locked.
  case active(ActiveGrant)
  /// The client's own first grant is due or has been requested. It does not require a user to sign in (RFC 6749,
  /// section 4.4).
  case starting(isInFlight: Bool)
  /// The grant of a new sign-in, or the client's own first grant, is being written. Clients do not see it yet.
  case adopting(Adoption)
  /// The end of the session is being written. Until that is done, clients see the previous state.
  case ending(EndRecord, shownAs: SessionState)
  case ended(EndRecord)
  case absent(signedOut: Bool)

  /// Creates the state of a session whose end is on record.
  init(_ end: EndRecord) { self = end.reason == .signedOut ? .absent(signedOut: true) : .ended(end) }

  /// Why the credential's file cannot be read now, or `nil` if it can be read, or if that is unknown.
  var accessFailure: AccessFailure? {
    switch self {
    case .notHeld(.unreadable(let accessFailure)): accessFailure
    case .active(let active): active.accessFailure
    case .notHeld, .starting, .adopting, .ending, .ended, .absent: nil
    }
  }

  var isAdopting: Bool { if case .adopting = self { true } else { false } }

  var isEnding: Bool { if case .ending = self { true } else { false } }
}

/// Why a credential is not in memory.
package enum NotHeld: Hashable, Sendable {
  /// The credential has not been read, or has to be read again.
  case unread
  /// A lock keeps the credential out of memory.
  case locked
  case unreadable(AccessFailure)
}

/// A new grant that is being written, from a sign-in, an import or the client's own first request.
package struct Adoption: Hashable, Sendable {
  package internal(set) var credential: Credential
  var timing: GrantTiming
  /// Whether to remove the user's lock. False if the account was locked after the sign-in began, and for first grants.
  var unlocks: Bool
  /// Whether the provider has just issued the grant. False for a grant that is imported unchanged.
  let isFresh: Bool
  /// The state that clients see until the write has ended, unless the account is locked in the meantime.
  let shownAs: SessionState
}
