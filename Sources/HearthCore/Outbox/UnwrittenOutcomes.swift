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

  /// The store has failed to write these: they come before what was added meanwhile. `shift`: by how much the clock was
  /// stepped since the store was asked.
  mutating func putBack(_ earlier: OutboxRequest, shiftedBy shift: Duration, at now: Timestamp) {
    settled = earlier.settled.map { $0.shifted(by: shift) } + settled
    released = earlier.released + released
    if !isEmpty { since = since ?? now }
  }

  /// The clock was stepped: the store shifts the waits that it knows, and these are not among them.
  mutating func shift(by shift: Duration) {
    since = since.map { $0 + shift }
    settled = settled.map { $0.shifted(by: shift) }
  }
}

extension Settlement {
  /// The same by a clock that was stepped.
  fileprivate func shifted(by shift: Duration) -> Settlement {
    var settlement = self
    switch outcome {
    case .waiting(var wait):
      wait.until = wait.until + shift
      wait.unknownSince = wait.unknownSince.map { $0 + shift }
      settlement.outcome = .waiting(wait)
    case .unreachable(let probeAt, let status, let error):
      settlement.outcome = .unreachable(probeAt: probeAt + shift, status: status, error: error)
    case .delivered, .dead, .released: break
    }
    return settlement
  }
}
