/// The outcomes of deliveries that are not on disk yet, oldest first.
struct UnwrittenOutcomes {
  private var settled: [(settlement: Settlement, at: Timestamp)] = []
  private var released: [Int64] = []
  /// The number of outcomes and releases, counted from the front, that the store is writing now.
  private var told = (settled: 0, released: 0)
  /// The time since which an outcome or release has been waiting to be written, or `nil` if nothing is waiting.
  private(set) var since: Timestamp?

  var isEmpty: Bool { settled.isEmpty && released.isEmpty }
  var count: Int { settled.count + released.count }

  mutating func settle(_ settlement: Settlement, at now: Timestamp) {
    settled.append((settlement, now))
    since = since ?? now
  }

  mutating func release(_ epoch: Int64, at now: Timestamp) {
    released.append(epoch)
    since = since ?? now
  }

  /// Returns all outcomes and releases for the store to write. They stay here until `written()` is called. After
  /// `failed(at:)`, the next call returns them again.
  mutating func tell(at now: Timestamp) -> (settled: [Settlement], released: [Int64]) {
    told = (settled.count, released.count)
    since = nil
    let aged = settled.map { outcome in
      var settlement = outcome.settlement
      settlement.age = now - outcome.at
      return settlement
    }
    return (aged, released)
  }

  /// Removes the outcomes from the last `tell(at:)`, which are now on disk.
  mutating func written() {
    settled.removeFirst(told.settled)
    released.removeFirst(told.released)
    told = (0, 0)
  }

  /// Keeps the outcomes from the last `tell(at:)`, which the store failed to write.
  mutating func failed(at now: Timestamp) {
    told = (0, 0)
    if !isEmpty { since = since ?? now }
  }

  mutating func shift(by shift: Duration) {
    since = since.map { $0 + shift }
    for index in settled.indices { settled[index].at = settled[index].at + shift }
  }
}
