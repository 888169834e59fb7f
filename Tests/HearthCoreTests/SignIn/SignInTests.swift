import TestSupport
import Testing

@testable import HearthCore

@Suite("A sign-in")
struct SignInTests {
  private static let locked = Failure(.locked, "Locked.", account: .sample)
  private static let expired = Failure.signInTimedOut(.sample, unanswered: nil)
  private static let silence = "No response from https://id.example.com."
  /// After these interruptions a grant that is being requested is no longer of use.
  private static let dropping = Failure.givenUp
  private static let keeping: [Failure] = [.shuttingDown, locked, expired]
  private static let phases: [SignIn.Phase] =
    [.beginning(nil), .beginning(.shuttingDown), .waiting, .landing, .granting(nil)] + keeping.map { .granting($0) }

  /// A sign-in with a device in this phase.
  private static func signIn(_ phase: SignIn.Phase) -> SignIn {
    var signIn = SignIn(.device, to: .sample, replacesLocked: false, endsEarlier: false, since: SessionEpoch())
    if case .beginning(let why) = phase {
      if let why { _ = signIn.interrupt(why) }
      return signIn
    }
    signIn.began(.device(ScriptedSignInEndpoint.device), at: .sample)
    switch phase {
    case .beginning, .waiting: break
    case .granting(let why):
      signIn.asks()
      if let why { _ = signIn.interrupt(why) }
    case .landing: signIn.lands()
    }
    return signIn
  }

  @Test("Giving up ends it at once, even during a grant; other interruptions wait for the provider's answer")
  func interrupted() {
    for phase in Self.phases {
      for why in Self.dropping + Self.keeping {
        var signIn = Self.signIn(phase)
        #expect(signIn.phase == phase)
        let ended = signIn.interrupt(why)
        switch phase {
        case .waiting: #expect(ended == why)
        case .granting where Self.dropping.contains(why): #expect(ended == why)
        case .granting(let earlier): #expect(ended == nil && signIn.phase == .granting(earlier ?? why))
        case .beginning(let earlier): #expect(ended == nil && signIn.phase == .beginning(earlier ?? why))
        case .landing: #expect(ended == nil && signIn.phase == .landing)
        }
      }
    }
  }

  @Test("A provider that has granted nothing yet is asked again, unless the sign-in has been interrupted")
  func notYet() {
    for phase in Self.phases {
      var signIn = Self.signIn(phase)
      let ended = signIn.notYet(.pending, at: .sample)
      switch phase {
      case .beginning, .waiting, .landing: #expect(ended == nil && signIn.phase == phase)
      case .granting(let interruption): #expect(ended == interruption)
      }
    }
  }

  @Test("At its deadline it ends if it waits, but a grant that was requested in time may still come")
  func timeUp() {
    let deadline = Timestamp.sample + ScriptedSignInEndpoint.device.lifetime
    for phase in Self.phases {
      var signIn = Self.signIn(phase)
      #expect(signIn.timeUp(at: deadline - .milliseconds(1)) == nil && signIn.phase == phase)
      let ended = signIn.timeUp(at: deadline)
      switch phase {
      case .waiting: #expect(ended == Self.expired)
      case .granting(let earlier): #expect(ended == nil && signIn.phase == .granting(earlier ?? Self.expired))
      case .beginning, .landing: #expect(ended == nil && signIn.phase == phase)
      }
    }
  }

  @Test("If the last polls got no answer, the end says so, and not that nobody signed in")
  func silent() {
    let deadline = Timestamp.sample + ScriptedSignInEndpoint.device.lifetime
    let silent = Failure.signInTimedOut(.sample, unanswered: Self.silence)
    var signIn = Self.signIn(.granting(nil))
    #expect(signIn.notYet(.unanswered(message: Self.silence), at: .sample) == nil)
    var answered = signIn
    #expect(signIn.timeUp(at: deadline) == silent)
    answered.asks()
    #expect(answered.notYet(.pending, at: .sample) == nil)
    #expect(answered.timeUp(at: deadline) == Self.expired)
    var hanging = Self.signIn(.granting(Self.expired))
    #expect(hanging.notYet(.unanswered(message: Self.silence), at: .sample) == silent)
  }

  @Test("It polls when the provider wants it to, and wakes for nothing else before its deadline")
  func polls() {
    var signIn = Self.signIn(.waiting)
    let next = Timestamp.sample + .seconds(5)
    #expect(signIn.wakeAt == next && !signIn.isPollDue(at: next - .milliseconds(1)) && signIn.isPollDue(at: next))
    signIn.asks()
    #expect(signIn.wakeAt == nil && !signIn.isPollDue(at: next))
    _ = signIn.notYet(.slowDown, at: next)
    #expect(signIn.wakeAt == next + .seconds(10))
    signIn.move(by: .seconds(60))
    #expect(signIn.wakeAt == next + .seconds(70))
    var browser = SignIn(.browser, to: .sample, replacesLocked: false, endsEarlier: false, since: SessionEpoch())
    #expect(browser.wakeAt == nil)
    browser.began(.browser(ScriptedSignInEndpoint.browser()), at: .sample)
    #expect(browser.wakeAt == .sample + .seconds(600) && !browser.isPollDue(at: .sample + .seconds(600)))
  }
}
