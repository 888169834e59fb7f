/// What the store is to do next. The service does one piece after the other and returns what came of it.
package enum OutboxStoreWork: Hashable, Sendable {
  /// Recovers the store, and keeps the user's pauses of these accounts.
  case recover(pausing: Set<AccountName>)
  /// Pauses are numbered in the order in which they are read and changed.
  case readPauses(number: Int)
  /// Makes the account's items that were made while no user was known, or under the former name, the subject's.
  case bind(AccountName, to: Subject, formerly: Subject?, adopts: Bool)
  /// Has the account's items go on that were held in their places for an origin that is configured now, and with
  /// `signedIn` those that waited for a sign-in.
  case free(AccountName, configured: Set<Origin>, signedIn: Bool)
  case exchange(OutboxRequest)
  /// Makes items dead that have expired by then; nil: finds out when the next one expires.
  case expire(Timestamp?)
  /// Removes what was finished long before then; nil: only what is too many.
  case prune(Timestamp?)
  /// Another user has signed in: a page of what is held for the one before is to be published.
  case publishHeld(AccountName, cursor: String?)
}

/// One exchange with the store: what came of deliveries, claims that are given back, and demands for new ones.
package struct OutboxRequest: Hashable, Sendable {
  package var settled: [Settlement] = []
  package var released: [Int64] = []
  package var demands: [OutboxDemand] = []

  var isEmpty: Bool { settled.isEmpty && released.isEmpty && demands.isEmpty }
}
