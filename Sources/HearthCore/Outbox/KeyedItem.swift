/// An item that the caller gave an idempotency key, where its owner has another item with the same key: they were made
/// under two names of one user, or one of them while nobody was known.
package struct KeyedItem: Hashable, Sendable {
  package var progress: ItemProgress
  package var position: Int64
  /// Its request may have left, and what came of it is not known yet.
  package var hasBegun: Bool

  package init(_ progress: ItemProgress, position: Int64, hasBegun: Bool) {
    self.progress = progress
    self.position = position
    self.hasBegun = hasBegun
  }

  /// Which of two items is ended, because the other one is the same write.
  package enum Surplus: Hashable, Sendable {
    case own, joining
  }

  /// What becomes of two items with one key and content, of which one joins the items of the other's owner. Nil where both
  /// go on: the write does not come through the one that stays, or the other one was sent already. The one that may have
  /// been done goes on, otherwise the earlier one, as if the later one had been enqueued as its duplicate (contract,
  /// section 6).
  package static func surplus(own: KeyedItem, joining: KeyedItem) -> Surplus? {
    let staysOwn = own.mayBeDone || !joining.mayBeDone && own.position < joining.position
    let (stays, other) = staysOwn ? (own, joining) : (joining, own)
    guard stays.mayBeDone || stays.progress.isActive, other.isUnsent else { return nil }
    return staysOwn ? .joining : .own
  }

  /// Tells which of two with different contents is held for review, so that one key is not sent with both. It is nil
  /// where neither can be sent by itself any more.
  package static func doubtful(own: KeyedItem, joining: KeyedItem) -> Surplus? {
    if joining.waits, !joining.wasSent || own.wasSent || !own.waits { return .joining }
    return own.waits && (joining.waits || joining.wasSent) ? .own : nil
  }

  private var waits: Bool { progress.isActive && !hasBegun }

  private var wasSent: Bool { hasBegun || mayBeDone || progress.attempts > 0 || progress.unknownSince != nil }

  /// The API has acted on it, or may have.
  private var mayBeDone: Bool {
    switch progress.state {
    case .delivered: true
    case .pending, .inFlight, .waiting: hasBegun || progress.unknownSince != nil
    case .held: progress.reason == .needsReview || progress.unknownSince != nil
    case .dead, .cancelled, .superseded: false
    }
  }

  /// It waits for its delivery, and the API has got nothing of it.
  private var isUnsent: Bool {
    progress.isActive && !hasBegun && progress.attempts == 0 && progress.unknownSince == nil
  }
}
