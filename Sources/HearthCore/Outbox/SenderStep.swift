/// Names a sender while it lives.
package typealias SenderID = Int

/// What a sender is to do next. What comes of it is returned to the machine.
package enum SenderStep: Hashable, Sendable {
  /// Get the account's token: `OutboxMachine.received(_:for:at:)`.
  case getBearer(AccountName)
  /// Get a token in place of the one that an API rejects: `OutboxMachine.received(_:for:at:)`.
  case replaceBearer(APIRejection, AccountName)
  /// Begin the item in the store and send its request: `OutboxMachine.responded(_:for:isCancelled:at:)`, or `revoked(_:at:)`.
  case send(Delivery, of: Int64, Bearer)
  /// Wait until the sender is among those that `OutboxMachine.takeResumed()` returns.
  case wait
  /// There is nothing more to send.
  case end
}
