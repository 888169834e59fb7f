package import HearthCore

/// Why a call on the outbox was refused.
package enum OutboxError: Error, Hashable, Sendable {
  /// -32602: the text says what is wrong with which parameter.
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
  case invalidState(OutboxItem.State)
  /// 1104
  case keyConflict
  /// 1105
  case storageUnavailable(String)
  /// -32000
  case shuttingDown
  /// For this reason the item at this place among several is refused, and with it the others.
  indirect case item(Int, OutboxError)

  init(_ failure: OutboxStoreFailure) {
    switch failure {
    case .full: self = .full
    case .keyConflict(let place): self = .item(place, .keyConflict)
    case .unknownItem: self = .unknownItem
    case .invalidState(let state): self = .invalidState(state)
    case .unavailable(let message), .broken(let message): self = .storageUnavailable(message)
    }
  }
}
