internal import HearthCore
internal import Logging

/// Logs failures of the store, each of them once: the loop meets the same failure at each of its attempts.
struct StoreFailureLog {
  private let log: Logger
  /// The failure that the loop has met last; nil after a success.
  private var lastOfLoop: OutboxStoreFailure?
  /// The damage that was found last, by the loop or by a call.
  private var damage: OutboxStoreFailure?

  init(_ log: Logger) {
    self.log = log
  }

  mutating func loopFailed(_ failure: OutboxStoreFailure) {
    if lastOfLoop != failure, damage != failure { log.error("\(failure)") }
    lastOfLoop = failure
    if case .broken = failure { damage = failure }
  }

  mutating func loopSucceeded() {
    lastOfLoop = nil
  }

  /// A call reports its failure to its caller. Damage is logged as well: the loop may never meet it.
  mutating func callFailed(_ failure: OutboxStoreFailure) {
    guard case .broken = failure, damage != failure else { return }
    log.error("\(failure)")
    damage = failure
  }
}
