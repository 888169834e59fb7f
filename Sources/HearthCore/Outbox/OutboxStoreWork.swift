/// A task for the store. The service runs one task at a time and reports its result.
package enum OutboxStoreWork: Hashable, Sendable {
  /// Recover the store, and preserve the user's pauses of these accounts.
  case recover(pausing: Set<AccountName>)
  /// Pass the configured accounts to the store, and read the pauses. `number` orders changes and reads.
  case configure(Set<AccountName>, number: Int)
  /// Assign the former subject's items and, with `adopts`, unowned items to the subject.
  case bind(AccountName, to: Subject, formerly: Subject?, adopts: Bool)
  /// Resume items that are held for an origin that is now configured and, with `signedIn`, items that are held for a
  /// sign-in.
  case free(AccountName, configured: Set<Origin>, signedIn: Bool)
  case exchange(OutboxRequest)
  /// Mark items that have expired by this time as dead. With `nil`, only find out when the next item expires.
  case expire(Timestamp?)
  /// Remove finished items that are too old at this time and, unless they are dead, those that exceed the maximum
  /// number. With `nil`, no item is too old.
  case prune(Timestamp?)
  /// Read a page of the held items, to publish those that are held for another user.
  case publishHeld(AccountName, cursor: String?)
}

/// One exchange with the store: outcomes, released claims, and demands for new claims.
package struct OutboxRequest: Hashable, Sendable {
  package var settled: [Settlement] = []
  package var released: [Int64] = []
  package var demands: [OutboxDemand] = []

  var isEmpty: Bool { settled.isEmpty && released.isEmpty && demands.isEmpty }
}
