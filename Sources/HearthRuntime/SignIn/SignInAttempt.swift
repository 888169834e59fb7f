package import HearthCore

package enum SignInRequest: Sendable {
  case browser
  case device
  case password(name: String, password: Secret)
  case clientCredentials
}

/// A started sign-in, as seen by the caller.
package struct SignInHandle: Sendable {
  package let id: String
  package let account: AccountName
  package var progress: SignInProgress
  package let steps: SignInSteps
}

/// The steps that the user has to take to sign in.
package enum SignInSteps: Sendable {
  case browser(BrowserSignIn)
  case device(DeviceSignIn)
  /// The user has nothing to do, because the provider has already been asked.
  case nothing
}

/// The state and the permissions of a sign-in when it started.
package struct SignInBeginning: Sendable {
  /// Whether a locked credential may be replaced.
  let replacesLocked: Bool
  /// The session's epoch. Locks that the user sets after it remain in force.
  let epoch: SessionEpoch
  /// The account's count in `SignInService.ends`. If the count has changed since then, the sign-in must end too.
  let ends: Int
}

struct SignInAttempt {
  var begun: SignInHandle
  let entry: SessionDirectory.Entry
  let beginning: SignInBeginning
  /// The listener for the browser's redirect, or `nil` if the flow does not use a browser.
  let redirect: (any OpenRedirect)?
  /// Finished when the sign-in ends, which ends the tasks that wait for the user.
  let over: AsyncStream<Never>.Continuation
  /// The total amount by which the clock had been set when the sign-in started.
  let stepped: Duration
  var machine: SignInMachine
  /// Whether the browser was sent to the provider again without a scope that the provider had refused.
  var hasFallenBack = false
  /// The reasons, already reported, why an answer from the browser was ignored. Each reason is reported only once.
  var told: Set<String> = []
  /// Displays the outcome in the browser. Set once the browser has returned from the provider's page.
  var tell: (@Sendable (SignInService.Outcome) -> Void)?
}

/// Stores the outcomes of sign-ins for callers that ask during a sign-in or shortly afterwards.
struct SignInOutcomes {
  typealias Outcome = Result<SessionStatus, SignInEnd>

  private struct Entry {
    let account: AccountName
    var outcome: Outcome?
    var callers: [AsyncStream<Outcome>.Continuation] = []
  }

  /// The number of outcomes to store for late callers.
  private static let most = 64

  private var entries: [String: Entry] = [:]
  /// The ids, in the order in which the sign-ins started.
  private var order: [String] = []

  mutating func add(_ id: String, of account: AccountName) {
    while order.count >= Self.most, let oldest = order.firstIndex(where: { entries[$0]?.outcome != nil }) {
      entries.removeValue(forKey: order.remove(at: oldest))
    }
    entries[id] = Entry(account: account)
    order.append(id)
  }

  func account(of id: String) -> AccountName? { entries[id]?.account }

  /// Returns a stream that delivers the outcome, or `nil` if the sign-in is unknown.
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
