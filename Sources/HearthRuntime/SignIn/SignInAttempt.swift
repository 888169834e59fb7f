package import HearthCore

/// A sign-in that has begun, as its caller is told.
package struct BegunAttempt: Sendable {
  package let id: String
  package let account: AccountName
  package let progress: SignInProgress
  package let steps: SignInSteps
}

/// What the person has to do.
package enum SignInSteps: Sendable {
  case browser(BrowserSignIn)
  case device(DeviceSignIn)
  /// It is being asked already.
  case nothing
}

/// A sign-in from its beginning on, until nobody can ask for its outcome any more.
struct SignInAttempt {
  typealias Outcome = Result<SessionStatus, SignInEnd>

  let begun: BegunAttempt
  let entry: SessionDirectory.Entry
  let replaces: Bool
  /// Ends the tasks that wait for the person.
  let over: AsyncStream<Never>.Continuation
  private(set) var isGranting = false
  /// Why it is to end once the provider has answered without a grant.
  private(set) var wantedEnd: SignInEnd?
  private(set) var outcome: Outcome?
  private var callers: [CheckedContinuation<Outcome, Never>] = []

  init(
    _ begun: BegunAttempt, _ entry: SessionDirectory.Entry, replaces: Bool, over: AsyncStream<Never>.Continuation
  ) {
    self.begun = begun
    self.entry = entry
    self.replaces = replaces
    self.over = over
  }

  /// It waits for the person, and can be given up.
  var isWaiting: Bool { outcome == nil && !isGranting }

  /// The person is done, and the provider is asked for the grant: that is not broken off.
  mutating func granting() { isGranting = true }

  /// Nothing was granted yet.
  mutating func goesOnWaiting() { isGranting = false }

  mutating func endLater(_ end: SignInEnd) { wantedEnd = end }

  mutating func end(_ outcome: Outcome) {
    self.outcome = outcome
    over.finish()
    for caller in callers { caller.resume(returning: outcome) }
    callers = []
  }

  mutating func wait(_ caller: CheckedContinuation<Outcome, Never>) {
    if let outcome { caller.resume(returning: outcome) } else { callers.append(caller) }
  }
}
