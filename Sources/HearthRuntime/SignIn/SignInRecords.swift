package import HearthCore

/// A started sign-in, as seen by the caller.
package struct SignInHandle: Sendable {
  package let id: String
  package let account: AccountName
  package let progress: SignInProgress
  /// `nil` if the user has nothing to do, because the sign-in is complete.
  package let steps: SignInSteps?
}

/// A sign-in in progress, or its outcome.
struct SignInRecord {
  let service: SessionService
  /// The sign-in's call to the session, or `nil` before the sign-in starts at the provider and once it is over.
  var call: CallID?
  var steps: SignInSteps?
  /// The listener for the browser's redirect, or `nil` if there is none.
  var redirect: (any OpenRedirect)?
  fileprivate var outcome: SignInService.Outcome?
  fileprivate var callers: [AsyncStream<SignInService.Outcome>.Continuation] = []
}

/// The sign-ins in progress, and the outcomes of the latest ones for callers that ask shortly afterwards.
struct SignInRecords {
  typealias Outcome = SignInService.Outcome

  /// The maximum number of records, unless more sign-ins are in progress.
  private static let most = 64

  private var records: [String: SignInRecord] = [:]
  /// The ids, in the order in which the sign-ins started.
  private var order: [String] = []

  subscript(id: String) -> SignInRecord? {
    get { records[id] }
    set { records[id] = newValue }
  }

  var inProgress: [SignInRecord] { records.values.filter { $0.outcome == nil } }

  mutating func add(_ service: SessionService) -> String {
    while order.count >= Self.most, let oldest = order.firstIndex(where: { records[$0]?.outcome != nil }) {
      records.removeValue(forKey: order.remove(at: oldest))
    }
    let id = String(UInt128.random(in: .min ... .max), radix: 36)
    records[id] = SignInRecord(service: service)
    order.append(id)
    return id
  }

  /// Returns the ids of the account's sign-ins that started before this one.
  func earlier(than id: String) -> [String] {
    order.prefix { $0 != id }.filter { records[$0]?.service === records[id]?.service }
  }

  /// Returns a stream that delivers the outcome, or `nil` if the sign-in is unknown.
  mutating func outcome(of id: String) -> AsyncStream<Outcome>? {
    guard let record = records[id] else { return nil }
    let (stream, caller) = AsyncStream<Outcome>.makeStream()
    if let outcome = record.outcome {
      caller.yield(outcome)
      caller.finish()
    } else {
      records[id]?.callers.append(caller)
    }
    return stream
  }

  mutating func tell(_ outcome: Outcome, of id: String) {
    for caller in records[id]?.callers ?? [] {
      caller.yield(outcome)
      caller.finish()
    }
    if let service = records[id]?.service { records[id] = SignInRecord(service: service, outcome: outcome) }
  }
}
