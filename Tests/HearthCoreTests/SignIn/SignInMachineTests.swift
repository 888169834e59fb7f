import HearthCore
import Testing

@Suite("The machine of a sign-in")
struct SignInMachineTests {
  private typealias Machine = SignInMachine

  private static let locked = SignInInterruption.locked(.locked(.explicit(.user)))
  private static let silence = "No response from https://id.example.com."
  private static let interruptions: [SignInInterruption] = [
    .cancelled, .superseded, .signedOut, .reconfigured, .stopping, locked, .expired(unanswered: nil),
  ]
  /// After these interruptions a grant that is being requested is no longer of use.
  private static let dropping: [SignInInterruption] = [.cancelled, .superseded, .signedOut, .reconfigured]
  private static let phases: [Machine.Phase] =
    [.waiting, .landing, .ended, .granting(nil)]
    + interruptions.filter { !dropping.contains($0) }.map { .granting($0) }

  /// A machine in this phase.
  private static func machine(_ phase: Machine.Phase, replacesLocked: Bool = false) -> Machine {
    var machine = Machine(replacesLocked: replacesLocked)
    switch phase {
    case .waiting: break
    case .granting(let interruption):
      _ = machine.handle(.grantDue)
      if let interruption { _ = machine.handle(.interrupted(interruption)) }
    case .landing:
      _ = machine.handle(.grantDue)
      _ = machine.land()
    case .ended: _ = machine.handle(.interrupted(.cancelled))
    }
    return machine
  }

  private func expect(
    _ phase: Machine.Phase, _ event: Machine.Event, _ decision: Machine.Decision, _ next: Machine.Phase,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var machine = Self.machine(phase)
    #expect(machine.phase == phase, sourceLocation: sourceLocation)
    #expect(machine.handle(event) == decision, "\(event) in \(phase)", sourceLocation: sourceLocation)
    #expect(machine.phase == next, "\(event) in \(phase)", sourceLocation: sourceLocation)
  }

  @Test("The provider is asked once for the grant of a waiting sign-in, and not again before it has answered")
  func grantDue() {
    for phase in Self.phases {
      let isWaiting = phase == .waiting
      expect(phase, .grantDue, isWaiting ? .ask : .nothing, isWaiting ? .granting(nil) : phase)
    }
  }

  @Test("A provider that has granted nothing yet is asked again, unless the sign-in has been interrupted")
  func notYet() {
    for phase in Self.phases {
      switch phase {
      case .waiting, .landing, .ended: expect(phase, .notYet(.pending), .nothing, phase)
      case .granting(nil): expect(phase, .notYet(.slowDown), .askAgain, .waiting)
      case .granting(let interruption?): expect(phase, .notYet(.pending), .end(interruption), .ended)
      }
    }
  }

  @Test("A grant that is kept ends the sign-in, whatever else happened")
  func granted() {
    for phase in Self.phases { expect(phase, .granted, phase == .ended ? .nothing : .finish, .ended) }
  }

  @Test("A refusal ends the sign-in with its own reason, unless it is already over")
  func refused() {
    for phase in Self.phases { expect(phase, .refused, phase == .ended ? .nothing : .finish, .ended) }
  }

  @Test("Giving up ends the sign-in at once, even during a grant; other interruptions wait for the answer")
  func interrupted() {
    for phase in Self.phases {
      for interruption in Self.interruptions {
        let event = Machine.Event.interrupted(interruption)
        switch phase {
        case .waiting: expect(phase, event, .end(interruption), .ended)
        case .granting where Self.dropping.contains(interruption): expect(phase, event, .end(interruption), .ended)
        case .granting(let earlier): expect(phase, event, .nothing, .granting(earlier ?? interruption))
        case .landing, .ended: expect(phase, event, .nothing, phase)
        }
      }
    }
  }

  @Test("A grant that has come is kept if it is still wanted, and the sign-in cannot be given up any more")
  func lands() {
    for phase in Self.phases {
      var machine = Self.machine(phase)
      let keeps = machine.keepsGrant
      #expect(machine.land() == keeps, "\(phase)")
      #expect(machine.phase == (keeps ? .landing : phase))
    }
  }

  @Test("At its deadline a waiting sign-in ends, but a grant that was requested in time may still come")
  func timeUp() {
    let expired = SignInInterruption.expired(unanswered: nil)
    for phase in Self.phases {
      switch phase {
      case .waiting: expect(phase, .timeUp, .end(expired), .ended)
      case .granting(nil): expect(phase, .timeUp, .nothing, .granting(expired))
      case .granting, .landing, .ended: expect(phase, .timeUp, .nothing, phase)
      }
    }
  }

  @Test("A grant is kept while the daemon stops, on a lock if the session says so, and never after giving up")
  func keepsGrant() {
    for phase in Self.phases {
      let keeps =
        switch phase {
        case .waiting, .ended: false
        case .granting, .landing: true
        }
      #expect(Self.machine(phase).keepsGrant == keeps, "\(phase)")
    }
  }

  @Test("A lock does not end a sign-in that replaces what is locked")
  func replacesLocked() {
    for phase in [Machine.Phase.waiting, .granting(nil)] {
      var machine = Self.machine(phase, replacesLocked: true)
      #expect(machine.handle(.interrupted(Self.locked)) == .nothing)
      #expect(machine.phase == phase)
    }
  }

  @Test("If the last polls got no answer, the end says so, and not that nobody signed in")
  func silent() {
    var machine = Self.machine(.granting(nil))
    #expect(machine.handle(.notYet(.unanswered(message: Self.silence))) == .askAgain)
    var answered = machine
    #expect(machine.handle(.timeUp) == .end(.expired(unanswered: Self.silence)))
    _ = answered.handle(.grantDue)
    _ = answered.handle(.notYet(.pending))
    #expect(answered.handle(.timeUp) == .end(.expired(unanswered: nil)))
    var hanging = Self.machine(.granting(.expired(unanswered: nil)))
    #expect(
      hanging.handle(.notYet(.unanswered(message: Self.silence))) == .end(.expired(unanswered: Self.silence)))
  }
}
