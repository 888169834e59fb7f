import TestSupport

@testable import HearthCore

/// Nothing waits without a reason: only the machine's deadlines and events make it continue.
extension OutboxSimulation {
  /// How long an item may wait that could be sent, in milliseconds.
  private static let timeout = 4000

  /// Called before time passes without any other event.
  func checkPromptness(until time: Int) {
    guard let daemon, !daemon.machine.isStopping, !isDiskFailing, slowestDisk <= 4 else {
      for item in items.values { item.readySince = nil }
      return
    }
    var busy: Set<Int> = []
    let isCrowded = movingBytes >= 24 << 20
    for number in model.order {
      guard let item = model.items[number], let tracked = items[number] else { continue }
      let isFront = item.lane.map { busy.insert($0).inserted } ?? true
      guard isFront, !isCrowded, isReady(item, tracked) else {
        tracked.readySince = nil
        continue
      }
      let since = max(tracked.readySince ?? elapsed, lastDisturbance)
      tracked.readySince = since
      if time - since > Self.timeout {
        violated("item \(number) waits for \(time - since) ms without a reason: \(model.shown(item))")
      }
    }
    for number in model.order { checkWait(number) }
  }

  /// The claimed bytes, except those of slow requests and of accounts that wait for a token, which delay nobody else.
  var movingBytes: Int {
    model.claimOf.keys.reduce(0) { sum, number in
      guard let item = model.items[number], let tracked = items[number] else { return sum }
      // Many slow requests may end at once.
      let isSlow = tracked.sentAt >= tracked.claimedAt && elapsed - tracked.sentAt >= 1000
      return isSlow || daemon?.asking.values.contains(item.account) == true ? sum : sum + item.bytes
    }
  }

  /// Checks that a wait is no longer than the policy or the server wanted.
  private func checkWait(_ number: Int64) {
    guard let progress = model.items[number]?.progress, let tracked = items[number], let dueAt = progress.dueAt,
      untoldShift == 0, progress.notBefore.map({ $0 < dueAt }) ?? true, dueAt > storeNow
    else { return }
    let due = elapsed + Int((dueAt - storeNow).wholeMilliseconds)
    if tracked.latestDue < .max, due > tracked.latestDue + 5000 {
      violated("item \(number) waits \(due - tracked.latestDue) ms longer than it was to")
    }
  }

  /// Whether a front can be sent now, as far as the simulation knows.
  func isReady(_ item: OutboxModel.Item, _ tracked: TrackedItem) -> Bool {
    let progress = item.progress
    guard let daemon, isSendable(item.account), !model.isBegun(item.number), tracked.flight == nil,
      tracked.answer == nil, configured[item.account]?.contains(item.origin) == true,
      model.subject(of: item).map({ $0 == daemon.machine.knownSubject(of: item.account) }) ?? false,
      daemon.out[item.account]?[item.origin] == nil, progress.reason != .needsStepUp,
      progress.dueAt ?? storeNow <= storeNow,
      progress.expiresAt.map({ $0 > now }) ?? true, !isHeldBack(item), !model.isOvertaking(item)
    else { return false }
    if let stalledUntil = daemon.stalledUntil[item.account], elapsed < stalledUntil { return false }
    // Only deliveries to the same origin may be in its way.
    let flights = daemon.flights.values.filter { $0.account == item.account && $0.origin == item.origin }
    if flights.reduce(0, { $0 + (model.items[$1.item.number]?.bytes ?? 0) }) >= 60 << 20 { return false }
    if progress.isUnanswered, flights.count(where: { items[$0.item.number]?.unknownSince != nil }) >= 16 {
      return false
    }
    return flights.count { $0.isUnordered == (item.lane == nil) } < (item.lane == nil ? settings.concurrency : 200)
  }

  private func isSendable(_ name: AccountName) -> Bool {
    guard let session = sessions[name], session.isReportedSendable, session.state == .signedIn, !isDiscarding(name)
    else { return false }
    // The machine learns that sending is resumed once the caller is answered.
    return !model.pausedAccounts.contains(name) && daemon?.machine.pausedReason(of: name) != OutboxAccount.user
      && session.user == session.reportedUser
  }

  /// Whether its claim waits for a token, or a request of its lane or in its place is under way.
  private func isHeldBack(_ item: OutboxModel.Item) -> Bool {
    guard let daemon else { return true }
    return !daemon.asking.isEmpty && daemon.asking.values.contains(item.account)
      || item.lane.map { lane in daemon.flights.values.contains { model.items[$0.item.number]?.lane == lane } } ?? false
  }

  // MARK: - Flushes

  func checkFlushes(until time: Int) {
    guard let daemon else { return }
    for (id, flush) in daemon.flushes {
      guard flush.accounts.allSatisfy(isIdle), !isDiskFailing, slowestDisk <= 4 else {
        self.daemon!.flushes[id]!.idleSince = nil
        continue
      }
      let since = max(flush.idleSince ?? elapsed, lastDisturbance)
      self.daemon!.flushes[id]!.idleSince = since
      if time - since > Self.timeout { violated("flush \(id) waits for nothing") }
    }
  }

  /// Whether nothing of an account is under way or due.
  private func isIdle(_ name: AccountName) -> Bool {
    guard let daemon, sessions[name]?.state != .hydrating, !daemon.asking.values.contains(name),
      !daemon.flights.values.contains(where: { $0.account == name })
    else { return false }
    return !model.order.contains { number in
      guard let item = model.items[number], item.account == name else { return false }
      if model.isClaimed(number) { return true }
      if item.progress.isHeldInPlace { return false }
      return item.progress.nextAttemptAt ?? storeNow <= storeNow
    }
  }

  /// Ends the flushes of accounts for which the machine says that nothing is left to send.
  func endFlushes() {
    guard let machine = daemon?.machine, let flushes = daemon?.flushes else { return }
    for (id, flush) in flushes.sorted(by: { $0.key < $1.key }) {
      guard flush.accounts.allSatisfy({ machine.isIdle($0, at: now) }) else { continue }
      note("flush \(id) ends")
      daemon!.flushes[id] = nil
      var busy: Set<Int> = []
      for number in model.order {
        guard let item = model.items[number], item.lane.map({ busy.insert($0).inserted }) ?? true,
          flush.accounts.contains(item.account), item.placedAt <= flush.lastItem, isReady(item, items[number]!)
        else { continue }
        violated("flush \(id) ends while item \(number) can be sent")
      }
    }
  }
}
