/// The counts of the outbox as they are shown: of all accounts together, and of some.
package struct OutboxOverview: Hashable, Sendable {
  package var all: OutboxStats
  package var accounts: [AccountName: OutboxStats]

  package init(all: OutboxStats, accounts: [AccountName: OutboxStats]) {
    self.all = all
    self.accounts = accounts
  }
}
