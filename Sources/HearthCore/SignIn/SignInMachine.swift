/// Decides the phase of one sign-in, and when it is over.
///
/// A code can be spent only once, so an interruption waits for a requested grant that may still be used.
package struct SignInMachine: Hashable, Sendable {
  package enum Phase: Hashable, Sendable {
    /// Waiting for the user.
    case waiting
    /// The provider is being asked for the grant. The interruption, if any, ends the sign-in if no grant comes.
    case granting(SignInInterruption?)
    /// The grant has come and is being given to the session.
    case landing
    /// The sign-in is over, and its results are ignored.
    case ended
  }

  package enum Event: Hashable, Sendable {
    /// The user has come back with a code, or the next poll is due.
    case grantDue
    /// The provider has not granted anything yet (RFC 8628, section 3.5).
    case notYet(DevicePolling.Answer)
    /// The grant is on disk.
    case granted
    /// There is no grant: the provider or the session refused it, or the browser brought an error.
    case refused
    /// The user's time is over.
    case timeUp
    case interrupted(SignInInterruption)
  }

  package enum Decision: Hashable, Sendable {
    case nothing
    /// Ask the provider for the grant.
    case ask
    /// Ask the provider again later.
    case askAgain
    /// The sign-in is over, with the result of the request.
    case finish
    /// The sign-in is over for this reason.
    case end(SignInInterruption)
  }

  package private(set) var phase = Phase.waiting
  /// Whether it is meant to replace a credential that is locked.
  private let replacesLocked: Bool
  /// Why the last poll got no answer, if it got none.
  private var silence: String?

  package init(replacesLocked: Bool) { self.replacesLocked = replacesLocked }

  /// Whether the sign-in itself allows keeping what the provider grants.
  package var keepsGrant: Bool {
    switch phase {
    case .waiting, .ended: false
    case .granting, .landing: true
    }
  }

  /// Called when the grant has come. Returns whether it is kept; if so, nothing interrupts the sign-in any more.
  package mutating func land() -> Bool {
    guard keepsGrant else { return false }
    phase = .landing
    return true
  }

  package mutating func handle(_ event: Event) -> Decision {
    switch event {
    case .grantDue: grantDue()
    case .notYet(let answer): notYet(answer)
    case .granted, .refused: answered()
    case .timeUp: interrupt(.expired(unanswered: silence))
    case .interrupted(let interruption): interrupt(interruption)
    }
  }

  private mutating func grantDue() -> Decision {
    guard case .waiting = phase else { return .nothing }
    phase = .granting(nil)
    return .ask
  }

  private mutating func notYet(_ answer: DevicePolling.Answer) -> Decision {
    guard case .granting(let interruption) = phase else { return .nothing }
    silence = if case .unanswered(let message) = answer { message } else { nil }
    phase = .waiting
    guard let interruption else { return .askAgain }
    if case .expired = interruption { return handle(.timeUp) }
    return interrupt(interruption)
  }

  private mutating func answered() -> Decision {
    if phase == .ended { return .nothing }
    phase = .ended
    return .finish
  }

  private mutating func interrupt(_ interruption: SignInInterruption) -> Decision {
    if case .locked = interruption, replacesLocked { return .nothing }
    switch phase {
    case .granting(let earlier) where !interruption.dropsGrant:
      phase = .granting(earlier ?? interruption)
      return .nothing
    case .waiting, .granting:
      phase = .ended
      return .end(interruption)
    case .landing, .ended: return .nothing
    }
  }
}

/// An outside event that ends a sign-in.
package enum SignInInterruption: Hashable, Sendable {
  /// The user gave it up.
  case cancelled
  /// Another sign-in of the same account has begun.
  case superseded
  case signedOut
  /// The account's configuration was changed.
  case reconfigured
  /// The daemon is stopping.
  case stopping
  /// The account is locked, and its credential must not be replaced.
  case locked(SessionState)
  /// The user's time is over. `unanswered` is a sentence that says why the provider could not be asked about a device.
  case expired(unanswered: String?)

  /// Whether the grant that is being requested is no longer of use. While the daemon stops it may still arrive; for a
  /// locked account the session decides when it comes.
  fileprivate var dropsGrant: Bool {
    switch self {
    case .cancelled, .superseded, .signedOut, .reconfigured: true
    case .stopping, .locked, .expired: false
    }
  }
}
