package import HearthCore

/// How somebody wants to sign in, with what that takes.
package enum SignInRequest: Sendable {
  case browser
  case device
  case password(name: String, password: Secret)
  case clientCredentials
}

/// A sign-in that has begun, as its caller is told.
package struct SignInHandle: Sendable {
  package let id: String
  package let account: AccountName
  package var progress: SignInProgress
  package let steps: SignInSteps
}

/// What the person has to do.
package enum SignInSteps: Sendable {
  case browser(BrowserSignIn)
  case device(DeviceSignIn)
  /// The provider is being asked already.
  case nothing
}

/// What a sign-in has found, and may do, since it began.
package struct SignInBeginning: Sendable {
  /// It may replace a credential that is locked.
  let replacesLocked: Bool
  /// What the user has locked since then stays locked.
  let epoch: SessionEpoch
  /// How often all sign-ins of the account had been ended.
  let ends: Int
}

/// A sign-in that is under way.
struct SignInAttempt {
  var begun: SignInHandle
  let entry: SessionDirectory.Entry
  let beginning: SignInBeginning
  /// Where the browser comes back to, if there is one.
  let redirect: (any OpenRedirect)?
  /// Ends the tasks that wait for the person.
  let over: AsyncStream<Never>.Continuation
  /// By how much the clock had been stepped when the sign-in began.
  let stepped: Duration
  var machine: SignInMachine
  /// The browser was sent to the provider once more, without a scope that it refuses.
  var hasFallenBack = false
  /// Why answers of the browser were not used.
  var told: Set<String> = []
  /// Shows the browser, once it has come back, what has come of the sign-in.
  var tell: (@Sendable (SignInService.Outcome) -> Void)?
}

/// What became of a sign-in, for those who ask while it is under way and for a while after that.
struct SignInOutcomes {
  typealias Outcome = Result<SessionStatus, SignInEnd>

  private struct Entry {
    let account: AccountName
    var outcome: Outcome?
    var callers: [AsyncStream<Outcome>.Continuation] = []
  }

  /// How many are kept for those who ask late.
  private static let most = 64

  private var entries: [String: Entry] = [:]
  /// The identities in the order in which the sign-ins began.
  private var order: [String] = []

  mutating func add(_ id: String, of account: AccountName) {
    while order.count >= Self.most, let oldest = order.firstIndex(where: { entries[$0]?.outcome != nil }) {
      entries.removeValue(forKey: order.remove(at: oldest))
    }
    entries[id] = Entry(account: account)
    order.append(id)
  }

  func account(of id: String) -> AccountName? { entries[id]?.account }

  /// Returns a stream that brings the outcome once it is there, or nil if no such sign-in is known.
  mutating func outcome(of id: String) -> AsyncStream<Outcome>? {
    guard let entry = entries[id] else { return nil }
    let (stream, caller) = AsyncStream<Outcome>.makeStream()
    if let outcome = entry.outcome {
      caller.yield(outcome)
      caller.finish()
    } else {
      entries[id]?.callers.append(caller)
    }
    return stream
  }

  mutating func tell(_ outcome: Outcome, of id: String) {
    for caller in entries[id]?.callers ?? [] {
      caller.yield(outcome)
      caller.finish()
    }
    entries[id]?.callers = []
    entries[id]?.outcome = outcome
  }
}
