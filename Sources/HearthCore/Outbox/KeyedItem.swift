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

  /// What becomes of two items with one key, of which one joins the items of the other's owner. Nil where both go on:
  /// with other contents, since each was acknowledged, and where the write does not come through the one that stays, or
  /// the other one was sent already. Of the same content the one that may have been done goes on, otherwise the earlier
  /// one, as if the later one had been enqueued as its duplicate (contract, section 6).
  package static func surplus(own: KeyedItem, joining: KeyedItem, isSameContent: Bool) -> Surplus? {
    guard isSameContent else { return nil }
    let staysOwn = own.mayBeDone || !joining.mayBeDone && own.position < joining.position
    let (stays, other) = staysOwn ? (own, joining) : (joining, own)
    guard stays.mayBeDone || stays.progress.state.isActive, other.isUnsent else { return nil }
    return staysOwn ? .joining : .own
  }

  /// The API has acted on it, or may have.
  private var mayBeDone: Bool {
    switch progress.state {
    case .delivered: true
    case .pending, .inFlight, .waiting: hasBegun || progress.unknownSince != nil
    case .held: progress.reason == .needsReview
    case .dead, .cancelled, .superseded: false
    }
  }

  /// It waits for its delivery, and the API has got nothing of it.
  private var isUnsent: Bool {
    progress.state.isActive && !hasBegun && progress.attempts == 0 && progress.unknownSince == nil
  }
}
