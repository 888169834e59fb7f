internal import HearthCore

/// The deliveries of one account between the store that has claimed them for it and the requests that send them.
///
/// Batches wait here until a worker takes them over; a worker takes its deliveries out one by one. A delivery that was
/// not taken out is *unsent* and can be withdrawn.
struct DeliveryQueue {
  private struct Worker {
    let kind: OutboxKinds
    /// What the worker still has to send of its batch.
    var rest: [Delivery]
  }

  private var batches: [LaneBatch] = []
  private var workers: [Int: Worker] = [:]
  /// The kinds of the unsent deliveries, by the identifiers of their items.
  private var unsent: [String: OutboxKinds] = [:]

  /// Whether no batch waits for a worker.
  var isEmpty: Bool { batches.isEmpty }
  var hasWorkers: Bool { !workers.isEmpty }
  var unsentCount: Int { unsent.count }

  func workers(on kind: OutboxKinds) -> Int { workers.values.count { $0.kind == kind } }

  func unsent(of kind: OutboxKinds) -> Int { unsent.values.count { $0 == kind } }

  func isUnsent(_ id: String) -> Bool { unsent[id] != nil }

  mutating func add(_ claimed: [LaneBatch]) {
    batches += claimed
    for delivery in claimed.flatMap(\.deliveries) { unsent[delivery.item.id] = delivery.kind }
  }

  /// Gives the next batch of a kind to a worker, a new one or one that has sent its last. Returns whether there was one.
  mutating func give(to worker: Int, _ kind: OutboxKinds) -> Bool {
    guard let index = batches.firstIndex(where: { $0.kind == kind }) else { return false }
    workers[worker] = Worker(kind: kind, rest: batches.remove(at: index).deliveries)
    return true
  }

  /// Takes out the next delivery that the worker has to send; nil after the last one of its batch.
  mutating func next(of worker: Int) -> Delivery? {
    guard let delivery = workers[worker]?.rest.first else { return nil }
    workers[worker]?.rest.removeFirst()
    unsent[delivery.item.id] = nil
    return delivery
  }

  mutating func end(_ worker: Int) {
    workers[worker] = nil
  }

  /// Withdraws what the worker has not sent of its batch.
  mutating func withdrawRest(of worker: Int) -> [Delivery] {
    let rest = workers[worker]?.rest ?? []
    workers[worker]?.rest = []
    for delivery in rest { unsent[delivery.item.id] = nil }
    return rest
  }

  /// Withdraws every unsent delivery.
  mutating func withdrawAll() -> [Delivery] {
    let deliveries = batches.flatMap(\.deliveries) + workers.values.flatMap(\.rest)
    batches = []
    for worker in workers.keys { workers[worker]?.rest = [] }
    unsent = [:]
    return deliveries
  }

  /// Withdraws one unsent delivery, and those behind it in its lane, which must not be sent before it.
  mutating func withdraw(_ id: String) -> [Delivery] {
    var withdrawn: [Delivery] = []
    func cut(_ deliveries: inout [Delivery]) {
      guard let index = deliveries.firstIndex(where: { $0.item.id == id }) else { return }
      withdrawn = Array(deliveries[index...])
      deliveries.removeSubrange(index...)
    }
    for index in batches.indices { cut(&batches[index].deliveries) }
    batches.removeAll(where: \.deliveries.isEmpty)
    for worker in workers.keys {
      var rest = workers[worker]?.rest ?? []
      cut(&rest)
      workers[worker]?.rest = rest
    }
    for delivery in withdrawn { unsent[delivery.item.id] = nil }
    return withdrawn
  }
}

extension LaneBatch {
  fileprivate var kind: OutboxKinds { deliveries.first?.kind ?? .lanes }
}

extension Delivery {
  var kind: OutboxKinds { item.lane == nil ? .unordered : .lanes }

  /// The delivery was claimed and not sent.
  var released: FinishedDelivery { FinishedDelivery(number: number, outcome: .released) }
}
