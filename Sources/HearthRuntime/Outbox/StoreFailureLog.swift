internal import HearthCore
internal import Logging

/// Logs failures of the store, each of them once: the same failure is met at each attempt.
struct StoreFailureLog {
  /// What meets a failure again and again.
  enum Place: Hashable {
    /// The work of the loop.
    case loop
    /// Writing down that a request leaves.
    case sending
  }

  private let log: Logger
  /// The failure that was met last; none after a success.
  private var last: [Place: OutboxStoreFailure] = [:]
  /// The damage that was found last, wherever it was.
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

  /// The failure that is met again and again now, unless the store does its work.
  var lasting: OutboxStoreFailure? { last[.loop] ?? last[.sending] }

  /// A call reports its failure to its caller. Damage is logged as well: the loop may never meet it.
  mutating func callFailed(_ failure: OutboxStoreFailure) {
    guard case .broken = failure, damage != failure else { return }
    log.error("\(failure)")
    damage = failure
  }
}
