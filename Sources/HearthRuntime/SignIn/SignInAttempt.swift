package import HearthCore

/// The way to sign in, with its data.
package enum SignInRequest: Sendable {
  case browser
  case device
  case password(name: String, password: Secret)
  case clientCredentials
}

/// A sign-in that has begun, as the caller sees it.
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
  /// Nothing; the provider is already being asked.
  case nothing
}

/// What a sign-in knew and was allowed to do when it began.
package struct SignInBeginning: Sendable {
  /// Whether it may replace a locked credential.
  let replacesLocked: Bool
  /// The session's epoch; locks that the user sets after it stay in force.
  let epoch: SessionEpoch
  /// How many times all sign-ins of the account had been ended.
  let ends: Int
}

/// A sign-in in progress.
struct SignInAttempt {
  var begun: SignInHandle
  let entry: SessionDirectory.Entry
  let beginning: SignInBeginning
  /// The listener for the browser's redirect, if there is one.
  let redirect: (any OpenRedirect)?
  /// Ends the tasks that wait for the person.
  let over: AsyncStream<Never>.Continuation
  /// The clock's total steps when the sign-in began.
  let stepped: Duration
  var machine: SignInMachine
  /// Whether the browser has been sent to the provider a second time, without a scope that it refused.
  var hasFallenBack = false
  /// The reasons already shown for not using answers of the browser.
  var told: Set<String> = []
  /// Shows the outcome in the browser, once it has come back.
  var tell: (@Sendable (SignInService.Outcome) -> Void)?
}

/// The outcomes of sign-ins, for callers who ask during a sign-in or for a while after it.
struct SignInOutcomes {
  typealias Outcome = Result<SessionStatus, SignInEnd>

  private struct Entry {
    let account: AccountName
    var outcome: Outcome?
    var callers: [AsyncStream<Outcome>.Continuation] = []
  }

  /// How many outcomes are kept for late callers.
  private static let most = 64

  private var entries: [String: Entry] = [:]
  /// The ids, in the order in which the sign-ins began.
  private var order: [String] = []

  mutating func add(_ id: String, of account: AccountName) {
    while order.count >= Self.most, let oldest = order.firstIndex(where: { entries[$0]?.outcome != nil }) {
      entries.removeValue(forKey: order.remove(at: oldest))
    }
    entries[id] = Entry(account: account)
    order.append(id)
  }

  func account(of id: String) -> AccountName? { entries[id]?.account }

  /// Returns a stream that delivers the outcome, or `nil` if no such sign-in is known.
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
