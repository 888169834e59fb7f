internal import HearthCore
internal import Logging

/// Logs each failure of the store once, even if it recurs at every attempt.
struct StoreFailureLog {
  /// A place at which failures can recur.
  enum Place: Hashable {
    case loop
    /// The call that records that a request is about to be sent.
    case sending
  }

  private let log: Logger
  /// The last failure at each place since the last success there.
  private var last: [Place: OutboxStoreFailure] = [:]
  /// The most recent damage found at any place.
  private var damage: OutboxStoreFailure?

  init(_ log: Logger) {
    self.log = log
  }

  mutating func failed(_ failure: OutboxStoreFailure, at place: Place) {
    if last[place] != failure, damage != failure { log.error("\(failure)") }
    last[place] = failure
    if case .broken = failure { damage = failure }
  }

  mutating func succeeded(at place: Place) {
    last[place] = nil
  }

  /// The current recurring failure, or `nil` if the store works.
  var lasting: OutboxStoreFailure? { last[.loop] ?? last[.sending] }

  /// Logs the failure of a call if it shows new damage to the store, because the loop may never encounter the damage.
  /// Other failures of calls are not logged, because the client receives them.
  mutating func callFailed(_ failure: OutboxStoreFailure) {
    guard case .broken = failure, damage != failure else { return }
    log.error("\(failure)")
    damage = failure
  }
}
