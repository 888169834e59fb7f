internal import HearthCore
internal import Synchronization

/// The claimed items in memory, and which of them have begun to be sent.
///
/// Only the outbox's writer makes, cuts and ends claims, within a transaction that may be undone. `begin` may be called
/// on any thread at any time.
final class ClaimTable: Sendable {
  struct Item: Hashable {
    let number: Int64
    let position: Int64
    /// `pending` or `waiting`, as in the item's row.
    let state: OutboxItem.State
    /// Whether its request may have left.
    var hasBegun = false
    /// Whether a newer item with its `replaceKey` was accepted after that.
    var isOutdated = false
  }

  struct Claim: Hashable {
    let epoch: Int64
    var owner: Int64
    let lane: Name?
    /// When the claim was made, by a clock that is never set (`Clock.steadyNow`).
    let madeAt: Timestamp
    /// The items that are not settled, in order.
    var items: [Item]
    /// The place of its mark in the file of sent marks.
    fileprivate(set) var slot = 0

    init(epoch: Int64, owner: Int64, lane: Name?, madeAt: Timestamp, items: [Item]) {
      self.epoch = epoch
      self.owner = owner
      self.lane = lane
      self.madeAt = madeAt
      self.items = items
    }
  }

  /// What happened to an item's claim when the item was to be changed.
  enum Revocation {
    case wasFree
    /// The item's request may have left, so the item must not be changed.
    case hasBegun
    /// The remaining claim, without the item and what followed it. It has ended if it is empty.
    case cut(Claim)
  }

  struct LaneKey: Hashable {
    let owner: Int64
    let lane: Name
  }

  fileprivate struct State: ~Copyable {
    var marks: SentMarks
    /// Whether claims may be held: no claim of another process is left whose marks would be needed.
    var isOpen = false
    var claims: [Int64: Claim] = [:]
    var epochs: [Int64: Int64] = [:]
    /// The number of claims on each lane.
    var lanes: [LaneKey: Int] = [:]
    /// The number of begun items, by the state in their rows.
    var begun: [Int64: Counts] = [:]
    /// Owners whose begun items have changed since their counts were last published.
    var changed: Set<Int64> = []
    var freeSlots: [Int] = []
    var usedSlots = 0
    var lastEpoch: Int64 = 0
    /// The claims as they were before the transaction, and before a savepoint in it.
    var before: [[Int64: Claim?]] = []

    init(_ marks: consuming SentMarks) {
      self.marks = marks
    }
  }

  /// The number of begun items.
  struct Counts: Hashable {
    var pending = 0
    var waiting = 0

    var all: Int { pending + waiting }

    mutating func add(_ state: OutboxItem.State, _ difference: Int) {
      if state == .waiting { waiting += difference } else { pending += difference }
    }
  }

  private let state: Mutex<State>

  init(_ marks: consuming sending SentMarks) {
    state = Mutex(State(marks))
  }

  // MARK: - Sending

  /// Records that the request of this item leaves at `now`, by the clock that is never set. Returns false if the claim
  /// is no longer valid. Throws if the mark cannot be written.
  func begin(_ number: Int64, of epoch: Int64, at now: Timestamp) throws(OutboxStoreFailure) -> Bool {
    try state.withLock { state throws(OutboxStoreFailure) in
      guard let claim = state.claims[epoch], let index = claim.items.firstIndex(where: { $0.number == number }) else {
        return false
      }
      let item = claim.items[index]
      // Its first request was answered with 401, and a newer item has replaced it since.
      guard !item.hasBegun || !item.isOutdated else { return false }
      // Items before this one that have not begun were settled without a request, or will be.
      guard claim.items[(index + 1)...].allSatisfy({ !$0.hasBegun }) else { return false }
      try state.marks.write(item.position, of: epoch, after: now - claim.madeAt, in: claim.slot)
      if !item.hasBegun {
        state.claims[epoch]?.items[index].hasBegun = true
        state.count(item, 1, of: claim.owner)
      }
      return true
    }
  }

  // MARK: - Reading

  func isBegun(_ number: Int64) -> Bool {
    state.withLock { state in state.find(number).map { claim, index in claim.items[index].hasBegun } ?? false }
  }

  /// The claim that holds an item.
  func claim(holding number: Int64) -> Claim? {
    state.withLock { state in state.epochs[number].flatMap { state.claims[$0] } }
  }

  func isClaimed(_ owner: Int64, _ lane: Name) -> Bool {
    state.withLock { $0.lanes[LaneKey(owner: owner, lane: lane)] != nil }
  }

  /// All items that have begun.
  func begun() -> [Item: Claim] {
    state.withLock { state in
      guard !state.begun.isEmpty else { return [:] }
      var begun: [Item: Claim] = [:]
      for claim in state.claims.values {
        for item in claim.items where item.hasBegun { begun[item] = claim }
      }
      return begun
    }
  }

  func begunCounts(of owner: Int64) -> Counts {
    state.withLock { $0.begun[owner] ?? Counts() }
  }

  var begunCount: Int { state.withLock { $0.begun.values.reduce(0) { $0 + $1.all } } }

  /// The owners whose begun items have changed since their counts were last published.
  func changedOwners() -> Set<Int64> { state.withLock { $0.changed } }

  /// Must be called before the counts of these owners are read to be published.
  func countsAreRead(of owners: Set<Int64>) { state.withLock { $0.changed.subtract(owners) } }

  /// Called if the counts of these owners were not published after all.
  func countsAreLost(of owners: Set<Int64>) { state.withLock { $0.changed.formUnion(owners) } }

  /// See `SentMarks.read`.
  func marks() -> [Int64: SentMarks.Mark]? { state.withLock { $0.marks.read() } }

  /// Allows claims to be held. Must be called once no claim of another process is left.
  func openForClaims() { state.withLock { $0.isOpen = true } }

  // MARK: - Changes by the writer

  /// Returns whether one more claim can be held, since its mark needs room on the disk.
  func hasRoom() -> Bool {
    state.withLock { state in
      guard state.isOpen else { return false }
      state.marks.begin()
      return state.marks.isCurrent
        && (!state.freeSlots.isEmpty || state.usedSlots < state.marks.slots || state.marks.grow())
    }
  }

  func hold(_ claim: Claim) {
    state.withLock { state in
      var claim = claim
      if let slot = state.freeSlots.popLast() {
        claim.slot = slot
      } else {
        claim.slot = state.usedSlots
        state.usedSlots += 1
      }
      state.lastEpoch = max(state.lastEpoch, claim.epoch)
      state.set(claim.epoch, claim)
    }
  }

  /// The highest epoch that a claim has had.
  var lastEpoch: Int64 { state.withLock { $0.lastEpoch } }

  /// Takes a settled item out of its claim. Returns the rest of the claim, or `nil` if the claim no longer holds the
  /// item.
  func settle(_ number: Int64, of epoch: Int64) -> Claim? {
    state.withLock { state in
      guard let items = state.claims[epoch]?.items, let index = items.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      state.remove(index, of: epoch)
      return state.claims[epoch]
    }
  }

  /// Ends a claim and returns it.
  func end(_ epoch: Int64) -> Claim? {
    state.withLock { state in
      guard let claim = state.claims[epoch] else { return nil }
      state.set(epoch, nil)
      return claim
    }
  }

  /// Ends all claims.
  func endAll() {
    state.withLock { state in
      for epoch in Array(state.claims.keys) { state.set(epoch, nil) }
    }
  }

  /// Takes an item out of its claim, together with all later ones that have not begun. An item that has begun itself is
  /// left alone, unless `always` is true.
  func revoke(_ number: Int64, always: Bool = false) -> Revocation {
    state.withLock { state in
      guard let (held, index) = state.find(number) else { return .wasFree }
      guard always || !held.items[index].hasBegun else { return .hasBegun }
      var claim = held
      claim.items = claim.items[..<index] + claim.items[(index + 1)...].filter(\.hasBegun)
      state.set(claim.epoch, claim.items.isEmpty ? nil : claim)
      return .cut(claim)
    }
  }

  /// Marks a claimed item that has begun, so that it is not sent again.
  func outdate(_ number: Int64) {
    state.withLock { state in
      guard let (held, index) = state.find(number) else { return }
      var claim = held
      claim.items[index].isOutdated = true
      state.set(claim.epoch, claim)
    }
  }

  /// Gives a claim to another owner. Only items that have begun stay in it. Returns the claim as it was before.
  func move(_ epoch: Int64, to owner: Int64) -> Claim? {
    state.withLock { state in
      guard let before = state.claims[epoch] else { return nil }
      var claim = before
      claim.owner = owner
      claim.items = claim.items.filter(\.hasBegun)
      state.set(epoch, claim.items.isEmpty ? nil : claim)
      return before
    }
  }

  // MARK: - Transactions

  /// Starts to record changes, so that they can be undone until they are kept.
  func open() {
    state.withLock { $0.before.append([:]) }
  }

  /// Keeps the changes since the last `open`. Those of a savepoint may still be undone with its transaction.
  func keep() {
    state.withLock { state in
      guard let before = state.before.popLast() else { return }
      if let outer = state.before.indices.last {
        state.before[outer].merge(before) { first, _ in first }
      } else {
        for (epoch, claim) in before where state.claims[epoch] == nil {
          if let claim { state.freeSlots.append(claim.slot) }
        }
      }
    }
  }

  /// Undoes the changes since the last `open`.
  func undo() {
    state.withLock { state in
      guard let before = state.before.popLast() else { return }
      for (epoch, claim) in before {
        if claim == nil, let new = state.claims[epoch] { state.freeSlots.append(new.slot) }
        // What has begun meanwhile stays begun.
        let begun = Set((state.claims[epoch]?.items ?? []).filter(\.hasBegun).map(\.number))
        var restored = claim
        for index in (restored?.items ?? []).indices where begun.contains(restored?.items[index].number ?? 0) {
          restored?.items[index].hasBegun = true
        }
        state.place(epoch, restored)
      }
    }
  }
}

extension ClaimTable.State {
  /// The claim that holds an item, and the item's index in it.
  func find(_ number: Int64) -> (claim: ClaimTable.Claim, index: Int)? {
    guard let epoch = epochs[number], let claim = claims[epoch],
      let index = claim.items.firstIndex(where: { $0.number == number })
    else { return nil }
    return (claim, index)
  }

  /// Replaces a claim, or ends it.
  mutating func set(_ epoch: Int64, _ claim: ClaimTable.Claim?) {
    note(epoch)
    place(epoch, claim)
  }

  /// Takes one item out of a claim. The cost does not depend on the number of items.
  mutating func remove(_ index: Int, of epoch: Int64) {
    note(epoch)
    guard let item = claims[epoch]?.items.remove(at: index), let owner = claims[epoch]?.owner else { return }
    epochs[item.number] = nil
    if item.hasBegun { count(item, -1, of: owner) }
  }

  /// Remembers a claim as it was before the transaction or the savepoint.
  private mutating func note(_ epoch: Int64) {
    guard let last = before.indices.last, before[last].index(forKey: epoch) == nil else { return }
    before[last].updateValue(claims[epoch], forKey: epoch)
  }

  /// Adds `difference` to the count of begun items.
  mutating func count(_ item: ClaimTable.Item, _ difference: Int, of owner: Int64) {
    begun[owner, default: ClaimTable.Counts()].add(item.state, difference)
    if begun[owner]?.all == 0 { begun[owner] = nil }
    changed.insert(owner)
  }

  mutating func place(_ epoch: Int64, _ claim: ClaimTable.Claim?) {
    if let old = claims[epoch] { account(for: old, -1) }
    claims[epoch] = claim
    if let claim { account(for: claim, 1) }
  }

  /// Adds a claim to what is derived from the claims, or removes it.
  private mutating func account(for claim: ClaimTable.Claim, _ difference: Int) {
    for item in claim.items {
      epochs[item.number] = difference > 0 ? claim.epoch : nil
      if item.hasBegun { count(item, difference, of: claim.owner) }
    }
    guard let lane = claim.lane else { return }
    let key = ClaimTable.LaneKey(owner: claim.owner, lane: lane)
    let count = lanes[key, default: 0] + difference
    lanes[key] = count == 0 ? nil : count
  }
}
