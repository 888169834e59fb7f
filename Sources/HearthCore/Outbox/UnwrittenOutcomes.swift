/// The outcomes of deliveries that are not on disk yet, in the order in which they came.
struct UnwrittenOutcomes {
  private var settled: [(settlement: Settlement, at: Timestamp)] = []
  /// The claims that are released.
  private var released: [Int64] = []
  /// How many of each, counted from the first, the store is writing now.
  private var told = (settled: 0, released: 0)
  /// Since when an outcome has been waiting that the store is not writing now. `nil` if there is none.
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

  /// Returns everything for the store to write. It stays here until `written()`, and is returned again after
  /// `failed(at:)`.
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

  /// Called when everything that the store was given is on disk.
  mutating func written() {
    settled.removeFirst(told.settled)
    released.removeFirst(told.released)
    told = (0, 0)
  }

  /// Called when the store failed to write it.
  mutating func failed(at now: Timestamp) {
    told = (0, 0)
    if !isEmpty { since = since ?? now }
  }

  mutating func shift(by shift: Duration) {
    since = since.map { $0 + shift }
    for index in settled.indices { settled[index].at = settled[index].at + shift }
  }
}
