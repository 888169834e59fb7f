/// The reads and changes of the accounts' pauses in the store, and the changes to what is shown of them.
struct OutboxPauses {
  /// Whether the pauses have been read since the start and the last reload.
  private(set) var areRead = false
  /// The number of the last operation that changes or reads the pauses. The store processes these operations in order.
  private var lastNumber = 0
  private var changes: [OutboxPauseChange] = []

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Returns the number of a new read, or `nil` if the pauses have been read.
  mutating func read() -> Int? {
    if areRead { return nil }
    // Set this before the work starts, because a reload can reset it while the store works.
    areRead = true
    return nextNumber()
  }

  mutating func readAgain() { areRead = false }

  mutating func changed(_ change: OutboxPauseChange) { changes.append(change) }

  mutating func takeChanges() -> [OutboxPauseChange] {
    defer { changes = [] }
    return changes
  }
}

/// A change to the reason why an account's sending is paused.
package struct OutboxPauseChange: Hashable, Sendable {
  package enum Event: Hashable, Sendable {
    /// The string is the reason for the pause that has started or ended.
    case paused(String), resumed(String)
  }

  package let account: AccountName
  /// The reason to show, or `nil` if sending is not paused.
  package let reason: String?
  /// The event to publish, or `nil` if the change is only shown.
  package var event: Event?
}
