/// The counts of the outbox after a transaction. The store numbers them without a gap: events are published in the order
/// of the numbers, whichever result arrives first.
package struct OutboxTotals: Hashable, Sendable {
  package var number = 0
  package var accounts: [AccountName: OutboxStats] = [:]

  package init() {}
}

/// The counts of the outbox as they are shown: of each account and of all together.
package struct OutboxOverview: Hashable, Sendable {
  package var all: OutboxStats
  package var accounts: [AccountName: OutboxStats]

  package init(all: OutboxStats, accounts: [AccountName: OutboxStats]) {
    self.all = all
    self.accounts = accounts
  }
}
