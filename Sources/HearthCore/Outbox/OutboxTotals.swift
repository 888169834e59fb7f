/// The outbox's counts at one moment. The store numbers the moments: what happened is told in their order, however late
/// it is heard of.
package struct OutboxTotals: Hashable, Sendable {
  package var number = 0
  package var accounts: [AccountName: OutboxStats] = [:]

  package init() {}
}

/// The outbox as people see it.
package struct OutboxOverview: Hashable, Sendable {
  package var all: OutboxStats
  package var accounts: [AccountName: OutboxStats]

  package init(all: OutboxStats, accounts: [AccountName: OutboxStats]) {
    self.all = all
    self.accounts = accounts
  }
}
