import HearthControl
import HearthCore

/// The contract's error for what the outbox refuses.
extension RPCError {
  /// `account` and `item`: what the call was about. `place`: of an item among several.
  init(_ error: OutboxError, account: AccountName?, item: String = "", place: String? = nil) {
    let prefix = place.map { $0 + ": " } ?? ""
    switch error {
    case .item(_, let reason): self.init(reason, account: account, item: item, place: place)
    case .invalidRequest(let why): self = .invalidParams("The parameter \(place.map { $0 + "." } ?? "")\(why).")
    case .unknownAccount(let account): self = .unknownAccount(account.description)
    case .originNotAllowed(let origin): self = .originNotAllowed(origin, account, prefix: prefix)
    case .full: self.init(.outboxFull, account: account, message: "The outbox is full; nothing was accepted.")
    case .unknownItem: self = .unknownItem(item)
    case .invalidState(let refusal):
      self.init(.invalidItemState, account: account, message: refusal.description)
    case .keyConflict:
      self.init(
        .idempotencyConflict, account: account,
        message: "\(prefix)The idempotency key stands for an item with another content.")
    case .storageUnavailable(let message):
      self.init(.storageUnavailable, account: account, message: "Nothing was accepted: \(message)")
    case .shuttingDown: self = .shuttingDown
    }
  }

  static func originNotAllowed(_ origin: Origin, _ account: AccountName?, prefix: String = "") -> RPCError {
    RPCError(
      .originNotAllowed, account: account,
      message:
        "\(prefix)\(origin) is none of the api_origins of \(account?.description ?? ""); the token goes nowhere else.")
  }
}
