/// The times at which the store looks for expired items, removes finished items, and wipes removed content, and at which
/// a server is asked for the time first.
struct SweepSchedule {
  private static let shortestPruneInterval = Duration.seconds(60)
  private static let wipeDelay = Duration.seconds(1)
  /// The number of finished items after which the store is pruned immediately.
  private static let finishedAtOnce = 1024
  /// The minimum interval between requests for the time if only the store's sweep needs it.
  private static let timeInterval = Duration.seconds(900)

  /// How far the servers' clocks are ahead of this machine's clock (`ServerClocks`), or `nil` if that is unknown.
  private var skew: Duration?
  private var nextExpiryAt: Timestamp?
  /// Whether the store has been asked for `nextExpiryAt` since this machine's clock was last set.
  private var isExpiryRead = false
  private var nextPruneAt: Timestamp?
  /// The time at which to remove the content of delivered, cancelled and replaced items from the store's files.
  private var wipeAt: Timestamp?
  /// The time at which the first finished item became too old according to this machine's clock. Set only if no server
  /// had confirmed the time at the last sweep.
  private var tooOldSince: Timestamp?
  /// The time at which a server was last asked for the time, or `nil` if a sweep may ask immediately.
  private var timeAskedAt: Timestamp?
  /// The number of deliveries that have ended since the last sweep.
  private var finished = 0

  mutating func agree(on skew: Duration?) {
    self.skew = skew
    if skew != nil, let since = tooOldSince { (nextPruneAt, tooOldSince) = (since, nil) }
  }

  /// Returns the time according to this clock or the servers' clocks, whichever is earlier, so that no item expires
  /// only because this clock is ahead. Returns `nil` if `skew` is unknown.
  func agreedTime(at now: Timestamp) -> Timestamp? { skew.map { now + min($0, .zero) } }

  /// The time at which to ask a server for the time before a sweep, or `nil` if no sweep needs the time.
  var timeNeededAt: Timestamp? {
    guard skew == nil, let due = [nextExpiryAt, tooOldSince].compactMap(\.self).min() else { return nil }
    return max(due, timeAskedAt.map { $0 + Self.timeInterval } ?? due)
  }

  mutating func timeAsked(at time: Timestamp?) { timeAskedAt = time }

  mutating func shift(by shift: Duration) {
    nextPruneAt = nextPruneAt.map { $0 + shift }
    wipeAt = wipeAt.map { $0 + shift }
    timeAskedAt = timeAskedAt.map { $0 + shift }
    guard shift != .zero else { return }
    skew = nil
    // Ask the store for the next expiry again, even if nothing is claimed. The store then also notices the step.
    isExpiryRead = false
  }

  /// Returns the work that expires items, or `nil` if none is due.
  mutating func expire(at now: Timestamp) -> OutboxStoreWork? {
    // After a start or a clock step, find out when the next item expires, even if nothing is claimed.
    let agreed = agreedTime(at: now)
    let isDue = if let nextExpiryAt, let agreed { nextExpiryAt <= agreed } else { false }
    guard !isExpiryRead || isDue else { return nil }
    expiryAsked()
    return .expire(agreed)
  }

  /// Forgets the next expiry just before the store is asked for it. An item that is enqueued while the store works
  /// records its expiry with `expires(at:)`, which keeps the earlier of the two.
  mutating func expiryAsked() { (nextExpiryAt, isExpiryRead) = (nil, true) }

  mutating func expires(at time: Timestamp?) { nextExpiryAt = [nextExpiryAt, time].compactMap(\.self).min() }

  mutating func expiryFailed() { isExpiryRead = false }
  mutating func storeBroke() { (nextExpiryAt, isExpiryRead) = (nil, false) }

  mutating func recovered(at now: Timestamp) { nextPruneAt = now }
  /// Schedules a sweep because fewer finished items are kept, once the store has recovered.
  mutating func keepsLess(at now: Timestamp) { nextPruneAt = nextPruneAt.map { _ in now } }

  /// Schedules a sweep after content was removed. A sweep is about as expensive as a commit, so it is delayed to cover
  /// several removals.
  mutating func wipeSoon(at now: Timestamp) { wipeAt = wipeAt ?? now + Self.wipeDelay }

  mutating func itemFinished() { finished += 1 }

  /// Returns the work that removes finished items and removed content, or `nil` if none is due.
  mutating func prune(at now: Timestamp) -> OutboxStoreWork? {
    guard let nextPruneAt,
      nextPruneAt <= now || finished >= Self.finishedAtOnce || wipeAt.map({ $0 <= now }) == true
    else { return nil }
    // Clear this before the work starts, because a delivery can set it again while the store works.
    wipeAt = nil
    return .prune(agreedTime(at: now))
  }

  /// Plans the next sweep after the store has been pruned.
  mutating func pruned(_ pruning: OutboxPruning, keeping settings: OutboxSettings, at now: Timestamp) {
    finished = 0
    // Finished items may stay up to an eighth longer than configured, so that an idle daemon wakes up less often.
    let interval = min(settings.keepDelivered, settings.keepDead) / 8
    let tooOld = pruning.nextAt.flatMap { $0 < agreedTime(at: now) ?? now ? $0 : nil }
    tooOldSince = skew == nil ? tooOld : nil
    // If a server has reported the time in the meantime, the items that seemed too old can be removed now.
    let isMore = pruning.isMore || skew != nil && tooOld != nil
    let pause = pruning.leavesContent ? Self.shortestPruneInterval : max(interval, Self.shortestPruneInterval)
    nextPruneAt = isMore ? now : now + pause
  }

  mutating func pruneFailed(at now: Timestamp) { (finished, nextPruneAt) = (0, now + Self.shortestPruneInterval) }

  var deadlines: [Timestamp?] {
    let expiryAt = skew.map { skew in nextExpiryAt.map { $0 - min(skew, .zero) } } ?? timeNeededAt
    return [nextPruneAt, nextPruneAt == nil ? nil : wipeAt, expiryAt]
  }
}
