/// One of two items with the same idempotency key. Such a pair arises when the store assigns an item (`joining`) to an
/// owner that already has an item with that key (`own`), for example because no user was known before.
package struct KeyedItem: Hashable, Sendable {
  package var progress: ItemProgress
  package var position: Int64
  /// Whether the item is in flight, so that its request may have been sent.
  package var hasBegun: Bool

  package init(_ progress: ItemProgress, position: Int64, hasBegun: Bool) {
    (self.progress, self.position, self.hasBegun) = (progress, position, hasBegun)
  }

  /// Which item of a pair to end or to hold for review.
  package enum Duplicate: Hashable, Sendable {
    case own, joining
  }

  /// Decides which of two items with the same key and content to end when `joining` is assigned to the owner of `own`.
  /// An item that the API may have processed stays. If neither can have been processed, the earlier item stays, as if
  /// the later item had been enqueued as a duplicate.
  ///
  /// Returns `nil` to keep both items. This is the case if the item that would stay is not going to be delivered, or if
  /// the other item no longer awaits delivery or may have been processed, too.
  package static func duplicate(own: KeyedItem, joining: KeyedItem) -> Duplicate? {
    let staysOwn = own.mayBeDone || !joining.mayBeDone && own.position < joining.position
    let (stays, other) = staysOwn ? (own, joining) : (joining, own)
    guard stays.mayBeDone || stays.progress.isActive, other.isUnsent else { return nil }
    return staysOwn ? .joining : .own
  }

  /// Decides which of two items with the same key but different contents to hold for review, so that the key is not
  /// sent with both contents. Returns `nil` if neither item has to be held.
  package static func doubtful(own: KeyedItem, joining: KeyedItem) -> Duplicate? {
    if joining.waits, !joining.wasSent || own.wasSent || !own.waits { return .joining }
    return own.waits && (joining.waits || joining.wasSent) ? .own : nil
  }

  private var waits: Bool { progress.isActive && !hasBegun }

  private var wasSent: Bool { hasBegun || mayBeDone || progress.mayHaveLeft }

  /// Whether the API has processed the item or may have done so. False for an item that has ended undelivered.
  private var mayBeDone: Bool {
    switch progress.state {
    case .delivered: true
    case .pending, .inFlight, .waiting: hasBegun || progress.unknownSince != nil
    case .held: progress.reason == .needsReview || progress.unknownSince != nil
    case .dead, .cancelled, .superseded: false
    }
  }

  /// Whether the item awaits delivery and the API cannot have processed it.
  private var isUnsent: Bool {
    progress.isActive && !hasBegun && progress.attempts == 0 && progress.unknownSince == nil
  }
}
