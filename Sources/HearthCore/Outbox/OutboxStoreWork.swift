/// The next work of the store. The service does one piece after the other and returns the result.
package enum OutboxStoreWork: Hashable, Sendable {
  /// Recovers the store, and keeps the user's pauses of these accounts.
  case recover(pausing: Set<AccountName>)
  /// Tells the store which accounts are configured, and reads the pauses. `number` orders readings and changes.
  case configure(Set<AccountName>, number: Int)
  /// Gives items that were made while no user was known, or under the former name, to the subject.
  case bind(AccountName, to: Subject, formerly: Subject?, adopts: Bool)
  /// Resumes items held for an origin that is now configured and, with `signedIn`, those that waited for a sign-in.
  case free(AccountName, configured: Set<Origin>, signedIn: Bool)
  case exchange(OutboxRequest)
  /// Makes items dead that have expired by this time. Without a time, only finds out when the next one expires.
  case expire(Timestamp?)
  /// Removes items that were finished long before this time. Without a time, only removes items beyond the maximum
  /// number.
  case prune(Timestamp?)
  /// Reads a page of the items that are held for the previous user after another user has signed in, to publish them.
  case publishHeld(AccountName, cursor: String?)
}

/// One exchange with the store: outcomes of deliveries, released claims, and demands for new ones.
package struct OutboxRequest: Hashable, Sendable {
  package var settled: [Settlement] = []
  package var released: [Int64] = []
  package var demands: [OutboxDemand] = []

  var isEmpty: Bool { settled.isEmpty && released.isEmpty && demands.isEmpty }
}
