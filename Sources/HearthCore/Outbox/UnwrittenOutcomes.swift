/// What came of deliveries and is not on disk yet, in the order in which it came.
struct UnwrittenOutcomes {
  private(set) var settled: [Settlement] = []
  /// The claims that are given back.
  private(set) var released: [Int64] = []
  /// Since when the first of them waits; nil without one.
  private(set) var since: Timestamp?

  var isEmpty: Bool { settled.isEmpty && released.isEmpty }
  var count: Int { settled.count + released.count }

  mutating func settle(_ settlement: Settlement, at now: Timestamp) {
    settled.append(settlement)
    since = since ?? now
  }

  mutating func release(_ epoch: Int64, at now: Timestamp) {
    released.append(epoch)
    since = since ?? now
  }

  mutating func removeAll() -> (settled: [Settlement], released: [Int64]) {
    defer { (settled, released, since) = ([], [], nil) }
    return (settled, released)
  }

  /// The store has failed to write these: they come before what was added meanwhile.
  mutating func putBack(_ earlier: OutboxRequest, at now: Timestamp) {
    settled = earlier.settled + settled
    released = earlier.released + released
    if !isEmpty { since = since ?? now }
  }

  /// The clock was stepped: the store shifts the waits that it knows, and these are not among them.
  mutating func shift(by shift: Duration) {
    since = since.map { $0 + shift }
    for index in settled.indices {
      guard case .waiting(var wait) = settled[index].outcome else { continue }
      wait.until = wait.until + shift
      wait.unknownSince = wait.unknownSince.map { $0 + shift }
      settled[index].outcome = .waiting(wait)
    }
  }
}
