internal import GRDB
internal import HearthCore

/// A transaction on the outbox, with the counters and claims that change in it and the changes to report.
final class OutboxTransaction {
  let db: Database
  let claims: ClaimTable
  private let moment: (now: Timestamp, stepped: Duration)
  private let boot: String
  var now: Timestamp { moment.now }
  var steadyNow: Timestamp { moment.now - moment.stepped }
  var counters: OutboxCounters
  var effects = Effects()
  /// Closures to call once the transaction is durable.
  var afterCommit: [@Sendable () -> Void] = []

  /// The effects of the transaction. All except `leavesContentInLog` are reported to observers.
  struct Effects {
    /// The commit without its counts and kinds, which `commit` adds.
    var commit = OutboxCommit()
    /// The owners whose counts may have changed.
    var touched: Set<Int64> = []
    /// The owners of items that may have become ready to be claimed, with the kinds of the items.
    var ready: [Int64: OutboxKinds] = [:]
    /// Whether the log still contains removed content and must be emptied.
    var leavesContentInLog = false
  }

  init(
    _ db: Database, _ counters: consuming OutboxCounters, _ claims: ClaimTable,
    at moment: (now: Timestamp, stepped: Duration), boot: String
  ) {
    self.db = db
    self.moment = moment
    self.boot = boot
    self.counters = counters
    self.claims = claims
  }

  /// Runs part of the transaction. If `body` throws or `undoes` is true, its writes are undone and the transaction can
  /// continue.
  func savepoint<T>(undoes: Bool = false, _ body: () throws -> T) throws -> T {
    let (counters, effects) = (counters, effects)
    var (value, isKept): (T?, Bool) = (nil, false)
    claims.open()
    defer {
      if isKept {
        claims.keep()
      } else {
        claims.undo()
        (self.counters, self.effects) = (counters, effects)
      }
    }
    try db.inSavepoint {
      value = try body()
      return undoes ? .rollback : .commit
    }
    isKept = !undoes
    return value!
  }

  /// Returns the changes and counts to report to observers.
  func commit() throws -> OutboxCommit {
    var commit = effects.commit
    claims.countsAreRead(of: effects.touched)
    for account in Set(effects.touched.compactMap { counters.owners[$0]?.account }) {
      commit.stats[account] = try stats(of: account)
    }
    for (id, kinds) in effects.ready {
      guard let owner = counters.owners[id], !counters.isOtherUser(owner) else { continue }
      commit.ready[owner.account, default: []].formUnion(kinds)
    }
    return commit
  }

  /// Returns the time that has passed since `earlier`, excluding clock steps.
  func age(of earlier: (now: Timestamp, stepped: Duration)) -> Duration {
    now - earlier.now - (moment.stepped - earlier.stepped)
  }

  /// Adjusts the schedule to clock steps since it was last saved during this boot. Otherwise, every waiting item would
  /// seem due after the clock was set forward.
  func bringInStep() throws {
    if let followed = counters.followed, followed.stepped != moment.stepped {
      try shiftSchedule(by: moment.stepped - followed.stepped)
    }
  }

  /// Records that the schedule has changed.
  func scheduled() { counters.scheduled(at: moment, boot: boot) }

  // MARK: - Rows

  func rows(_ sql: String, _ arguments: StatementArguments) throws -> [StoredItem] {
    try db.rows(sql, arguments, StoredItem.init)
  }

  func row(_ sql: String, _ arguments: StatementArguments) throws -> StoredItem? {
    try db.firstRow(sql, arguments, StoredItem.init)
  }

  func number(_ sql: String, _ arguments: StatementArguments) throws -> Int64? {
    try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: arguments)
  }

  func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// Writes an item's row and updates its owner's counts. Deletes the content if the new state does not keep it.
  func write(_ item: inout StoredItem) throws {
    let progress = item.progress
    try execute(
      OutboxQueries.update,
      [
        item.owner, item.position, item.state.number, progress.reason?.rawValue, item.isHead, item.dueAt,
        progress.attempts, progress.conflicts, progress.offlineAnswers, progress.notBefore?.milliseconds,
        progress.expiresAt?.milliseconds, progress.nextAttemptAt?.milliseconds, progress.unknownSince?.milliseconds,
        progress.hasLeft, progress.finishedAt?.milliseconds, progress.lastStatus, progress.lastError, item.number,
      ])
    if progress.dueAt != nil { scheduled() }
    effects.touched.insert(item.owner)
    let (old, new) = (item.written, item.state)
    item.written = new
    if old != new {
      counters.moved(old, new, bytes: item.bytes, of: item.owner)
      if old.keepsContent, !new.keepsContent { try execute(OutboxQueries.deleteContent, [item.number]) }
    }
  }

  /// Writes an item's row and reports the change to observers.
  func publish(_ item: inout StoredItem) throws {
    try write(&item)
    effects.commit.changes.append(.changed(try shown(item)))
  }

  /// Returns the item as clients see it: in flight once its request may have been sent. An active item that is not in
  /// flight is held if it belongs to another user or its account is not configured.
  func shown(_ item: StoredItem, hasBegun: Bool? = nil) throws -> OutboxItem {
    let hasBegun = hasBegun ?? (item.state.isActive && claims.isBegun(item.number))
    guard let owner = counters.owners[item.owner] else {
      throw OutboxStoreFailure.broken("Item \(item.id) has no owner.")
    }
    let progress = item.progress
    let holdReason = progress.isActive && !hasBegun ? counters.holdReason(of: owner) : nil
    return OutboxItem(
      id: item.id, account: owner.account, subject: owner.subject, lane: item.lane, method: item.method, url: item.url,
      state: hasBegun ? .inFlight : holdReason == nil ? progress.state : .held, reason: holdReason ?? progress.reason,
      attempts: progress.attempts, createdAt: item.createdAt,
      nextAttemptAt: holdReason != nil || hasBegun ? nil : progress.nextAttemptAt, lastStatus: progress.lastStatus,
      lastError: progress.lastError, idempotencyKey: item.idempotencyKey, bytes: item.bytes)
  }

  // MARK: - Lanes

  /// Returns the first active item of a lane.
  func first(_ owner: Int64, _ lane: Name) throws -> (number: Int64, isHead: Bool, isHeld: Bool)? {
    var first: (number: Int64, position: Int64, isHead: Bool, isHeld: Bool)?
    for state in [OutboxItem.State.pending, .inFlight, .waiting] {
      let found = try db.firstRow(OutboxQueries.firstOfLane, [owner, lane, state.number]) { row in
        (try row.number(0), try row.number(1), isHead: try row.number(2) != 0, isHeld: state == .inFlight)
      }
      if let found, found.1 < first?.position ?? .max { first = found }
    }
    return first.map { ($0.number, $0.isHead, $0.isHeld) }
  }

  /// Returns whether a new item in the lane must wait for another one.
  func isLaneBusy(_ owner: Int64, _ lane: Name) throws -> Bool {
    if claims.isClaimed(owner, lane) { return true }
    return try number(OutboxQueries.activeInLane, [owner, lane]) != nil
  }

  /// Makes the first active item of a lane its head, unless the lane is claimed or the item is held in place. Reports
  /// the head as ready. Pass `isDemanded` while meeting a demand, which reports the head itself (`Claimed.moved`).
  func promote(_ owner: Int64, _ lane: Name, isDemanded: Bool = false) throws {
    guard !claims.isClaimed(owner, lane), let first = try first(owner, lane), !first.isHead, !first.isHeld
    else { return }
    try execute(OutboxQueries.setHead, [true, first.number])
    if !isDemanded { becameReady(owner, .lanes) }
  }

  func becameReady(_ owner: Int64, _ kinds: OutboxKinds) {
    effects.ready[owner, default: []].formUnion(kinds)
  }

  /// Ends a claim, so that its unsettled items can be claimed again.
  func end(_ epoch: Int64) throws {
    guard let claim = claims.end(epoch) else { return }
    try execute(OutboxQueries.endClaim, [claim.epoch])
    // Items that had begun are no longer in flight, so the owner's counts have changed.
    if claim.items.contains(where: \.hasBegun) {
      effects.touched.insert(claim.owner)
      // Newer items with the same `replaceKey` may have been waiting for these items.
      becameReady(claim.owner, .all)
    }
    if let lane = claim.lane { return try promote(claim.owner, lane) }
    for item in claim.items {
      try execute(OutboxQueries.setHead, [true, item.number])
      becameReady(claim.owner, .unordered)
    }
  }

  /// Removes an item from its claim so that it can be changed. Returns false if its request may have been sent, unless
  /// `always` is true. The caller must promote the item's lane.
  func revoke(_ item: StoredItem, always: Bool = false) throws -> Bool {
    switch claims.revoke(item.number, always: always) {
    case .wasFree: return true
    case .hasBegun: return false
    case .cut(let claim):
      effects.touched.insert(claim.owner)
      if let last = claim.items.last {
        try execute(OutboxQueries.cutClaim, [last.position, claim.epoch])
      } else {
        try execute(OutboxQueries.endClaim, [claim.epoch])
      }
      return true
    }
  }

  /// Removes an item from its lane because it can no longer be sent. The item becomes dead or held. If its request may
  /// have been sent, changes nothing and returns false.
  @discardableResult
  func leaveLane(_ item: StoredItem, _ reason: OutboxItem.Reason, isDemanded: Bool = false) throws -> Bool {
    guard try revoke(item) else { return false }
    var item = item
    item.progress.leaveLane(reason, at: now)
    item.isHead = false
    try publish(&item)
    if let lane = item.lane { try promote(item.owner, lane, isDemanded: isDemanded) }
    return true
  }
}
