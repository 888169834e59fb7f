/// Tracks the phases of a sign-in, and decides when it ends.
///
/// An authorization code can be used only once, so a grant that has been requested would be lost if the sign-in ended
/// too early. If the grant may still be used, an interruption therefore takes effect only after the provider has
/// responded.
package struct SignInMachine: Hashable, Sendable {
  package enum Phase: Hashable, Sendable {
    /// Waiting for the user.
    case waiting
    /// Waiting for a grant from the provider. If no grant arrives, the interruption ends the sign-in.
    case granting(SignInInterruption?)
    /// Passing the grant to the session.
    case landing
    /// The sign-in has ended. Late results are ignored.
    case ended
  }

  package enum Event: Hashable, Sendable {
    /// The browser has returned with a code, or the next poll is due.
    case grantDue
    /// The provider has not granted anything yet (RFC 8628, section 3.5).
    case notYet(DevicePolling.Answer)
    /// The grant is on disk.
    case granted
    /// There is no grant, because the provider or the session refused it or the browser returned an error.
    case refused
    /// The sign-in has timed out.
    case timeUp
    case interrupted(SignInInterruption)
  }

  package enum Decision: Hashable, Sendable {
    case nothing
    case ask
    case askAgain
    /// The sign-in ends with the result of the request.
    case finish
    /// The sign-in ends for this reason.
    case end(SignInInterruption)
  }

  package private(set) var phase = Phase.waiting
  /// Whether the sign-in is meant to replace a locked credential.
  private let replacesLocked: Bool
  /// The reason why the last poll got no response, or `nil` if it got a response.
  private var silence: String?

  package init(replacesLocked: Bool) { self.replacesLocked = replacesLocked }

  /// Whether the sign-in can still use a grant.
  package var keepsGrant: Bool {
    switch phase {
    case .waiting, .ended: false
    case .granting, .landing: true
    }
  }

  /// Records that the grant has arrived, and returns whether to use it. A sign-in that uses its grant can no longer be
  /// interrupted.
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

/// An external event that ends a sign-in.
package enum SignInInterruption: Hashable, Sendable {
  case cancelled
  /// Another sign-in for the same account has started.
  case superseded
  case signedOut
  case reconfigured
  case stopping
  /// The account is locked, and its credential must not be replaced.
  case locked(SessionState)
  /// The sign-in has timed out. If the last poll got no response, `unanswered` is a sentence that says why.
  case expired(unanswered: String?)

  /// Whether to discard a grant that is still being requested. All other interruptions wait for the grant, because it
  /// may arrive before the daemon stops or just after the timeout. If the account is locked, the session decides
  /// whether to use the grant.
  fileprivate var dropsGrant: Bool {
    switch self {
    case .cancelled, .superseded, .signedOut, .reconfigured: true
    case .stopping, .locked, .expired: false
    }
  }
}
