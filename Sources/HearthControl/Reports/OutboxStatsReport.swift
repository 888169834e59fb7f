/// Counts of the outbox, of one account or of all.
package struct OutboxStatsReport: Hashable, Sendable {
  package var pending: Int
  package var inFlight: Int
  package var waiting: Int
  package var held: Int
  package var delivered: Int
  package var dead: Int
  package var bytes: Int
  package var oldestPendingAt: String?
  package var paused: Bool
  package var pausedReason: String?

  package init(
    pending: Int = 0, inFlight: Int = 0, waiting: Int = 0, held: Int = 0, delivered: Int = 0, dead: Int = 0,
    bytes: Int = 0, oldestPendingAt: String? = nil, paused: Bool = false, pausedReason: String? = nil
  ) {
    self.pending = pending
    self.inFlight = inFlight
    self.waiting = waiting
    self.held = held
    self.delivered = delivered
    self.dead = dead
    self.bytes = bytes
    self.oldestPendingAt = oldestPendingAt
    self.paused = paused
    self.pausedReason = pausedReason
  }

  package var json: JSON {
    [
      "pending": JSON(pending), "inFlight": JSON(inFlight), "waiting": JSON(waiting), "held": JSON(held),
      "delivered": JSON(delivered), "dead": JSON(dead), "bytes": JSON(bytes), "oldestPendingAt": JSON(oldestPendingAt),
      "paused": .bool(paused), "pausedReason": JSON(pausedReason),
    ]
  }

  /// Nil where a field is missing that is never null. Fields of later versions are passed over.
  package init?(json: JSON) {
    guard let pending = json["pending"]?.int, let inFlight = json["inFlight"]?.int,
      let waiting = json["waiting"]?.int, let held = json["held"]?.int, let delivered = json["delivered"]?.int,
      let dead = json["dead"]?.int, let bytes = json["bytes"]?.int, let paused = json["paused"]?.bool
    else { return nil }
    self.init(
      pending: pending, inFlight: inFlight, waiting: waiting, held: held, delivered: delivered, dead: dead,
      bytes: bytes, oldestPendingAt: json["oldestPendingAt"]?.string, paused: paused,
      pausedReason: json["pausedReason"]?.string)
  }
}
