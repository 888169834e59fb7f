internal import HearthCore

/// The outcomes of deliveries that are not on disk yet, in the order in which they came.
struct UnwrittenOutcomes {
  private var finished: [FinishedDelivery] = []
  /// Since when the first of them waits; nil without one.
  private(set) var since: Timestamp?

  var isEmpty: Bool { finished.isEmpty }
  var count: Int { finished.count }

  mutating func add(_ deliveries: [FinishedDelivery], at now: Timestamp) {
    guard !deliveries.isEmpty else { return }
    finished += deliveries
    since = since ?? now
  }

  mutating func removeAll() -> [FinishedDelivery] {
    defer { (finished, since) = ([], nil) }
    return finished
  }

  /// The store has failed to write these: they come before what was added meanwhile.
  mutating func putBack(_ deliveries: [FinishedDelivery], at now: Timestamp) {
    let later = removeAll()
    add(deliveries + later, at: now)
  }

  /// The clock was stepped: the store shifts the waits that it knows, and these are not among them.
  mutating func shift(by shift: Duration) {
    since = since.map { $0 + shift }
    finished = finished.map { delivery in
      guard case .waiting(var wait) = delivery.outcome else { return delivery }
      wait.until = wait.until + shift
      return FinishedDelivery(number: delivery.number, outcome: .waiting(wait))
    }
  }
}
