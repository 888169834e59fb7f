/// Decides how far one sign-in is, and when it is over.
///
/// A grant that the provider is being asked for is awaited while it may still be of use, since a code can be spent once.
package struct SignInMachine: Hashable, Sendable {
  package enum Phase: Hashable, Sendable {
    /// For the person.
    case waiting
    /// The provider is being asked for the grant. `interruption`: what ends the sign-in if none comes of it.
    case granting(SignInInterruption?)
    /// The grant has come, and the session is given it.
    case landing
    /// Nothing of it counts any more.
    case ended
  }

  package enum Event: Hashable, Sendable {
    /// The person has come back with a code, or the next poll is due.
    case grantDue
    /// The provider has not granted anything yet (RFC 8628, section 3.5).
    case notYet(DevicePolling.Answer)
    /// The grant is kept, and on disk.
    case granted
    /// There is no grant: the provider or the session refused it, or the browser brought an error.
    case refused
    /// The time that the person had is over.
    case timeUp
    case interrupted(SignInInterruption)
  }

  package enum Decision: Hashable, Sendable {
    case nothing
    /// Ask the provider for the grant.
    case ask
    /// Ask the provider again later.
    case askAgain
    /// It is over, with what came of the request.
    case finish
    /// It is over for this reason.
    case end(SignInInterruption)
  }

  package private(set) var phase = Phase.waiting
  /// It is meant to replace a credential that is locked.
  private let replacesLocked: Bool
  /// What is wrong with the answers to polls, where the last one got none.
  private var silence: String?

  package init(replacesLocked: Bool) {
    self.replacesLocked = replacesLocked
  }

  /// Whether what the provider grants is to be kept, as far as the sign-in itself says it.
  package var keepsGrant: Bool {
    switch phase {
    case .waiting, .ended: false
    case .granting, .landing: true
    }
  }

  /// The grant has come: whether it is kept. Nobody gives the sign-in up any more then.
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

/// What ends a sign-in from outside.
package enum SignInInterruption: Hashable, Sendable {
  /// The person gave it up.
  case cancelled
  /// Another sign-in of the same account has begun.
  case superseded
  case signedOut
  /// The account's configuration was changed.
  case reconfigured
  /// The daemon stops.
  case stopping
  /// The account is locked, and its credential is not to be replaced.
  case locked(SessionState)
  /// The person's time is over. `unanswered`: why the provider could not be asked about a device, a sentence.
  case expired(unanswered: String?)

  /// Whether the grant that is being asked for is of no use any more. While the daemon stops one may still land; of one
  /// for a locked account the session decides when it comes.
  fileprivate var dropsGrant: Bool {
    switch self {
    case .cancelled, .superseded, .signedOut, .reconfigured: true
    case .stopping, .locked, .expired: false
    }
  }
}
