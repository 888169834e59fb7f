/// One transaction of the outbox, as it is told to those who observe it.
package struct OutboxCommit: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    case enqueued(OutboxItem)
    /// The item is in another state than before it was claimed, or than before this transaction.
    case changed(OutboxItem)
  }

  /// In order.
  package var changes: [Change] = []
  /// The counts of the accounts that have changed.
  package var stats: [AccountName: OutboxStats] = [:]
  /// Whether accounts that are not among `stats` have no items.
  package var isOfAll = false
  /// The accounts for which there is, or will be when it is due, something to claim that was not there before.
  package var ready: [AccountName: OutboxKinds] = [:]

  package init() {}

  package var isEmpty: Bool { changes.isEmpty && stats.isEmpty && !isOfAll && ready.isEmpty }
}
