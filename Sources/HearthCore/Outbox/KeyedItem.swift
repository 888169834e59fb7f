/// One of two items of the same owner with the same idempotency key from the caller. That happens if they were made
/// under two names of one user, or one of them while no user was known.
package struct KeyedItem: Hashable, Sendable {
  package var progress: ItemProgress
  package var position: Int64
  /// Whether its request may have left without a known result.
  package var hasBegun: Bool

  package init(_ progress: ItemProgress, position: Int64, hasBegun: Bool) {
    (self.progress, self.position, self.hasBegun) = (progress, position, hasBegun)
  }

  /// Which of the two items ends because the other one is the same write.
  package enum Duplicate: Hashable, Sendable {
    case own, joining
  }

  /// Decides which of two items with the same key and content ends, when one of them (`joining`) becomes an item of the
  /// other's owner. The item that the API may have acted on stays, otherwise the earlier one, as if the later one had
  /// been enqueued as its duplicate (contract, section 6). Returns `nil` if both stay, because the one to keep will not
  /// be delivered, or the other one was already sent.
  package static func duplicate(own: KeyedItem, joining: KeyedItem) -> Duplicate? {
    let staysOwn = own.mayBeDone || !joining.mayBeDone && own.position < joining.position
    let (stays, other) = staysOwn ? (own, joining) : (joining, own)
    guard stays.mayBeDone || stays.progress.isActive, other.isUnsent else { return nil }
    return staysOwn ? .joining : .own
  }

  /// Decides which of two items with the same key and different contents is held for review, so that one key is not
  /// sent with both contents. Returns `nil` if neither can be sent by itself any more.
  package static func doubtful(own: KeyedItem, joining: KeyedItem) -> Duplicate? {
    if joining.waits, !joining.wasSent || own.wasSent || !own.waits { return .joining }
    return own.waits && (joining.waits || joining.wasSent) ? .own : nil
  }

  private var waits: Bool { progress.isActive && !hasBegun }

  private var wasSent: Bool { hasBegun || mayBeDone || progress.mayHaveLeft }

  /// Whether the API has acted on the item, or may have.
  private var mayBeDone: Bool {
    switch progress.state {
    case .delivered: true
    case .pending, .inFlight, .waiting: hasBegun || progress.unknownSince != nil
    case .held: progress.reason == .needsReview || progress.unknownSince != nil
    case .dead, .cancelled, .superseded: false
    }
  }

  /// Whether the item waits for delivery and no request for it has reached the API.
  private var isUnsent: Bool {
    progress.isActive && !hasBegun && progress.attempts == 0 && progress.unknownSince == nil
  }
}
