/// The front of a lane, or one unordered item, claimed to be sent: its deliveries are sent one after the other.
package struct LaneClaim: Hashable, Sendable {
  /// No two claims have the same, over restarts too.
  package let epoch: Int64
  package var deliveries: [Delivery]

  package init(epoch: Int64, deliveries: [Delivery]) {
    self.epoch = epoch
    self.deliveries = deliveries
  }
}
