package import HearthCore

/// A simple model of an `OutboxStore`: items, claims, owners and pauses in memory. It handles one call after the other.
/// A call that throws changes nothing. Only a file is missing.
package struct OutboxModel: Sendable {
  package struct Item: Sendable {
    package let number: Int64
    package internal(set) var new: NewOutboxItem
    package let origin: Origin
    package let bytes: Int
    package let createdAt: Timestamp
    /// Orders items with the same `replaceKey`; the number orders those with equal times.
    let madeAt: Timestamp
    package internal(set) var owner: Int
    /// The lane, or nil for an unordered item.
    package internal(set) var lane: Int?
    package internal(set) var position: Int64
    /// Counts the changes of its owner and its position.
    package internal(set) var placedAt: Int64
    package internal(set) var progress: ItemProgress
    /// Whether the caller gave its idempotency key, and the key is still reserved for it.
    package internal(set) var holdsKey: Bool

    /// Whether a later item has the same `replaceKey`.
    func isOlder(than other: Item) -> Bool {
      new.draft.replaceKey != nil && owner == other.owner && new.draft.replaceKey == other.new.draft.replaceKey
        && (madeAt, number) < (other.madeAt, other.number)
    }

    package var account: AccountName { new.draft.account }
    package var kind: OutboxKinds { lane == nil ? .unordered : .lanes }
  }

  package struct Claim: Sendable {
    /// The items that are not settled, in order.
    package internal(set) var items: [Int64]
    /// Those of them whose requests may have been sent.
    package internal(set) var begun: Set<Int64> = []
    package internal(set) var since: Timestamp
    /// Compared with `Item.placedAt`.
    package let madeAt: Int64
  }

  package struct Owner: Hashable, Sendable {
    package let account: AccountName
    package let subject: Subject?
  }

  struct LaneKey: Hashable {
    let owner: Int
    let name: Name
  }

  /// An item that can be claimed when it is due.
  struct Front: Hashable {
    let number: Int64
    let owner: Int
    let kind: OutboxKinds
    let dueAt: Timestamp?
  }

  package internal(set) var items: [Int64: Item] = [:]
  /// The active items in order of position.
  package internal(set) var order: [Int64] = []
  package internal(set) var claims: [Int64: Claim] = [:]
  /// The claim of each claimed item.
  package internal(set) var claimOf: [Int64: Int64] = [:]
  package internal(set) var owners: [Owner] = []
  var lanes: [LaneKey] = []
  package internal(set) var current: [AccountName: Int] = [:]
  package internal(set) var pausedAccounts: Set<AccountName> = []
  /// The accounts of the configuration, or nil before it is known.
  var configured: Set<AccountName>?
  private(set) var lastCount: Int64 = 0

  /// The time of the clock when a wait was last recorded or moved.
  var scheduledAt = Timestamp(milliseconds: 0)

  /// Whether every claimed item counts as sent, because a power loss may have lost the marks.
  var hasLostMarks = false

  // The changes since the last commit.
  var changes: [OutboxCommit.Change] = []
  var touched: Set<AccountName> = []
  /// The kinds of owners for which a demand has just claimed everything.
  var met: [Int: OutboxKinds] = [:]
  private var fronts: Set<Front> = []
  var commits: [OutboxCommit] = []

  package init() {}

  mutating func nextCount() -> Int64 {
    lastCount += 1
    return lastCount
  }

  // MARK: - Commits

  /// The commits since the last call, in order.
  package mutating func takeCommits() -> [OutboxCommit] {
    defer { commits = [] }
    return commits
  }

  /// Ends a transaction. An account becomes ready if something can be claimed, now or when it is due, that could not be
  /// claimed before.
  mutating func commit(isOfAll: Bool = false) {
    let now = Set(findFronts())
    var commit = OutboxCommit()
    commit.changes = changes
    commit.isOfAll = isOfAll
    for account in touched { commit.stats[account] = countedStats(of: account) }
    for front in now.subtracting(fronts) where met[front.owner]?.contains(front.kind) != true {
      if !isOtherUser(front.owner) { commit.ready[owners[front.owner].account, default: []].formUnion(front.kind) }
    }
    (fronts, changes, touched, met) = (now, [], [], [:])
    if !commit.isEmpty { commits.append(commit) }
  }

  /// Forgets what could be claimed before.
  mutating func readyAnew() { fronts = [] }

  /// The unordered items, and the heads of lanes without a claim.
  func findFronts() -> [Front] {
    var busy: Set<Int> = []
    for number in claimOf.keys {
      if let lane = items[number]?.lane { busy.insert(lane) }
    }
    var found: [Front] = []
    for number in order {
      guard let item = items[number] else { continue }
      if let lane = item.lane {
        guard busy.insert(lane).inserted else { continue }
      } else if claimOf[number] != nil {
        continue
      }
      if item.progress.isHeldInPlace || isOvertaking(item) { continue }
      found.append(Front(number: number, owner: item.owner, kind: item.kind, dueAt: item.progress.dueAt))
    }
    return found
  }

  // MARK: - Items

  func isOtherUser(_ owner: Int) -> Bool {
    if owners[owner].subject == .unnamedBefore { return true }
    guard let current = current[owners[owner].account] else { return false }
    return owners[owner].subject != nil && current != owner
  }

  /// The subjects whose items a discard removes if nobody is known.
  package func lastSubjects(of account: AccountName) -> [Subject?] {
    guard let last = current[account].flatMap({ owners[$0].subject }) else { return [] }
    return last.named == nil ? [.unnamed, .unnamedBefore] : [last]
  }

  private func holdReason(of owner: Int) -> OutboxItem.Reason? {
    if isOtherUser(owner) { return .otherUser }
    return configured?.contains(owners[owner].account) == false ? .originNotConfigured : nil
  }

  package func isBegun(_ number: Int64) -> Bool {
    claimOf[number].flatMap { claims[$0] }?.begun.contains(number) ?? false
  }

  package func isClaimed(_ number: Int64) -> Bool { claimOf[number] != nil }

  package func subject(of item: Item) -> Subject? { owners[item.owner].subject }

  /// Changes an item, and keeps the active items in order.
  mutating func update(_ number: Int64, isPublished: Bool = true, _ change: (inout ItemProgress) -> Void) {
    guard let before = items[number]?.progress else { return }
    change(&items[number]!.progress)
    let isActive = items[number]!.progress.isActive
    if before.isActive, !isActive { order.removeAll { $0 == number } }
    if !before.isActive, isActive { insertInOrder(number) }
    touched.insert(items[number]!.account)
    if isPublished { changes.append(.changed(shown(items[number]!))) }
  }

  mutating func insertInOrder(_ number: Int64) {
    guard let position = items[number]?.position else { return }
    let place = order.lastIndex { items[$0]!.position <= position }.map { $0 + 1 } ?? 0
    order.insert(number, at: place)
  }

  package func shown(_ item: Item) -> OutboxItem {
    let (progress, draft) = (item.progress, item.new.draft)
    let isInFlight = isBegun(item.number)
    let holdReason = progress.isActive && !isInFlight ? holdReason(of: item.owner) : nil
    return OutboxItem(
      id: item.new.id, account: draft.account, subject: subject(of: item), lane: draft.isUnordered ? nil : draft.lane,
      method: draft.method, url: item.new.url.description,
      state: isInFlight ? .inFlight : holdReason == nil ? progress.state : .held,
      reason: holdReason ?? progress.reason,
      attempts: progress.attempts, createdAt: item.createdAt,
      nextAttemptAt: isInFlight || holdReason != nil ? nil : progress.nextAttemptAt, lastStatus: progress.lastStatus,
      lastError: progress.lastError, idempotencyKey: draft.idempotencyKey ?? item.new.id, bytes: item.bytes)
  }

  package func countedStats(of account: AccountName?) -> OutboxStats {
    var stats = OutboxStats()
    for item in items.values where account == nil || item.account == account {
      let state = item.progress.state
      if state.keepsContent { stats.bytes += item.bytes }
      if isBegun(item.number) {
        stats.inFlight += 1
      } else if item.progress.isActive, holdReason(of: item.owner) != nil {
        stats.held += 1
      } else {
        switch state {
        case .pending, .waiting:
          if state == .pending { stats.pending += 1 } else { stats.waiting += 1 }
          stats.oldestPendingAt = min(stats.oldestPendingAt ?? item.createdAt, item.createdAt)
        case .held: stats.held += 1
        case .delivered: stats.delivered += 1
        case .dead: stats.dead += 1
        case .inFlight, .cancelled, .superseded: break
        }
      }
    }
    return stats
  }

  /// The age of an imported item is kept. Any other is the account's newest item with its `replaceKey`.
  func madeAt(_ new: NewOutboxItem, at now: Timestamp) -> Timestamp {
    if let kept = new.kept { return kept.createdAt }
    let others = items.values.filter {
      new.draft.replaceKey != nil && $0.account == new.draft.account && $0.new.draft.replaceKey == new.draft.replaceKey
    }
    return others.map { $0.madeAt + .milliseconds(1) }.reduce(now, max)
  }

  // MARK: - Owners and lanes

  mutating func madeOwner(_ account: AccountName, _ subject: Subject?) -> Int {
    let owner = Owner(account: account, subject: subject)
    if let index = owners.firstIndex(of: owner) { return index }
    owners.append(owner)
    return owners.count - 1
  }

  mutating func madeLane(_ owner: Int, _ draft: OutboxDraft) -> Int? {
    if draft.isUnordered { return nil }
    let key = LaneKey(owner: owner, name: draft.lane)
    if let index = lanes.firstIndex(of: key) { return index }
    lanes.append(key)
    return lanes.count - 1
  }
}
