package import HearthCore

/// Why a call on the outbox failed. The number is the contract's.
package enum OutboxError: Error, Hashable, Sendable {
  /// -32602. The text names the parameter and says what is wrong with it.
  case invalidRequest(String)
  /// 1005
  case unknownAccount(AccountName)
  /// 1006
  case originNotAllowed(Origin)
  /// 1101
  case full
  /// 1102
  case unknownItem
  /// 1103
  case invalidState(OutboxRefusal)
  /// 1104
  case keyConflict
  /// 1105
  case storageUnavailable(String)
  /// -32000
  case shuttingDown
  /// All items were refused because of the one at this index.
  indirect case item(Int, OutboxError)

  init(_ failure: OutboxStoreFailure) {
    switch failure {
    case .full: self = .full
    case .keyConflict(let place): self = .item(place, .keyConflict)
    case .unknownItem: self = .unknownItem
    case .invalidState(let refusal): self = .invalidState(refusal)
    case .unavailable(let message), .broken(let message): self = .storageUnavailable(message)
    }
  }
}
