internal import HearthCore

/// Puts events into the order of the transactions they come from: callers get their results in any order, and the store
/// numbers the totals of each.
struct EventSequencer {
  /// How many events wait at most for one whose number never comes, because its transaction failed.
  private static let most = 256

  /// The totals with the highest number so far.
  private(set) var totals = OutboxTotals()
  private var waiting: [Int: (events: [OutboxEvent], totals: OutboxTotals)] = [:]

  mutating func add(_ events: [OutboxEvent], _ totals: OutboxTotals) {
    waiting[totals.number] = (events, totals)
  }

  /// The events of the next transaction; nil while that one is not known.
  mutating func next() -> [OutboxEvent]? {
    guard let number = waiting.keys.min(), number <= totals.number + 1 || waiting.count > Self.most,
      let next = waiting.removeValue(forKey: number)
    else { return nil }
    if number > totals.number { totals = next.totals }
    return next.events
  }
}
