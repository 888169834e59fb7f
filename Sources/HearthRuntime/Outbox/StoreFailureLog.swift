internal import HearthCore
internal import Logging

/// Logs each failure of the store once, though every attempt runs into it.
struct StoreFailureLog {
  /// Where a failure occurs again and again.
  enum Place: Hashable {
    /// In the loop.
    case loop
    /// When recording that a request is sent.
    case sending
  }

  private let log: Logger
  /// The last failure at each place; absent after a success.
  private var last: [Place: OutboxStoreFailure] = [:]
  /// The last damage that was found, at any place.
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

  /// The current recurring failure; `nil` if the store works.
  var lasting: OutboxStoreFailure? { last[.loop] ?? last[.sending] }

  /// Notes the failure of a call. The caller reports it, so only damage is logged: the loop may never run into it.
  mutating func callFailed(_ failure: OutboxStoreFailure) {
    guard case .broken = failure, damage != failure else { return }
    log.error("\(failure)")
    damage = failure
  }
}
