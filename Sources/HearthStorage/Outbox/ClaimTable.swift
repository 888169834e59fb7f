internal import HearthCore
internal import Synchronization

/// The claimed items, and which of their requests may have been sent. Exists only in memory. The `claims` table and
/// `SentMarks` contain what `OutboxTransaction.recover` needs after a crash.
///
/// Only the outbox's writer creates, cuts and ends claims, in transactions that can be undone. `begin` can be called on
/// any thread at any time.
final class ClaimTable: Sendable {
  struct Item: Hashable {
    let number: Int64
    let position: Int64
    /// `pending` or `waiting`, as in the item's row.
    let state: OutboxItem.State
    /// Whether the item's request may have been sent.
    var hasBegun = false
    /// Whether a newer item with the same `replaceKey` was accepted after the request was sent.
    var isOutdated = false
  }

  struct Claim: Hashable {
    let epoch: Int64
    var owner: Int64
    let lane: Name?
    /// The time of the claim, on a clock that is never adjusted (`Clock.steadyNow`).
    let madeAt: Timestamp
    /// The items that have not been settled, by position.
    var items: [Item]
    /// The claim's slot in the file of sent marks.
    fileprivate(set) var slot = 0
  }

  /// How revoking an item affected its claim.
  enum Revocation {
    case wasFree
    /// The item's request may have been sent, so the item must not change.
    case hasBegun
    /// The rest of the claim, without the item and the later items that have not begun. If the rest is empty, the claim
    /// has ended.
    case cut(Claim)
  }

  fileprivate struct State: ~Copyable {
    var marks: SentMarks
    /// Whether new claims are allowed. New claims must not overwrite the marks of earlier claims until those have
    /// ended.
    var isOpen = false
    var claims: [Int64: Claim] = [:]
    var epochs: [Int64: Int64] = [:]
    /// How many claims each lane of an owner has.
    var lanes: [Int64: [Name: Int]] = [:]
    /// How many claimed items may have been sent, by owner and state.
    var begun: [Int64: Counts] = [:]
    /// Owners whose begun items have changed since their counts were last published.
    var changed: Set<Int64> = []
    var freeSlots: [Int] = []
    var usedSlots = 0
    var lastEpoch: Int64 = 0
    /// The changed claims as they were before the transaction and before each savepoint in it.
    var before: [[Int64: Claim?]] = []
  }

  /// How many claimed items may have been sent, by state.
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
    state = Mutex(State(marks: marks))
  }

  // MARK: - Sending

  /// Records that the item's request is about to be sent. `now` is a `Clock.steadyNow()`. Returns false if the claim no
  /// longer contains the item or the request must not be sent. Throws if the mark cannot be written.
  func begin(_ number: Int64, of epoch: Int64, at now: Timestamp) throws(OutboxStoreFailure) -> Bool {
    try state.withLock { state throws(OutboxStoreFailure) in
      guard let claim = state.claims[epoch], let index = claim.items.firstIndex(where: { $0.number == number }) else {
        return false
      }
      let item = claim.items[index]
      // An item is sent again only after a 401, and not if a newer item has replaced it since.
      guard !item.hasBegun || !item.isOutdated else { return false }
      // The claim's mark records only the last item sent, so an item must not be sent after a later one.
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

  func isClaimed(_ owner: Int64, _ lane: Name) -> Bool {
    state.withLock { $0.lanes[owner]?[lane] != nil }
  }

  /// Returns all items whose requests may have been sent, with their claims.
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

  /// Returns the owners whose begun items have changed since their counts were last published.
  func changedOwners() -> Set<Int64> { state.withLock { $0.changed } }

  /// Call this before reading these owners' counts for publication, so that a later change is not missed.
  func countsAreRead(of owners: Set<Int64>) { state.withLock { $0.changed.subtract(owners) } }

  /// Call this if these owners' counts were not published after all.
  func countsAreLost(of owners: Set<Int64>) { state.withLock { $0.changed.formUnion(owners) } }

  func marks() -> [Int64: SentMarks.Mark]? { state.withLock { $0.marks.read() } }

  /// Allows new claims. Call this once all earlier claims in the database have ended.
  func openForClaims() { state.withLock { $0.isOpen = true } }

  // MARK: - Changes by the writer

  /// Returns whether another claim is possible. If necessary, allocates disk space for more marks.
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

  var lastEpoch: Int64 { state.withLock { $0.lastEpoch } }

  /// Removes a settled item from its claim. Returns the rest of the claim, or `nil` if the claim no longer contains the
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

  func end(_ epoch: Int64) -> Claim? {
    state.withLock { state in
      guard let claim = state.claims[epoch] else { return nil }
      state.set(epoch, nil)
      return claim
    }
  }

  func endAll() {
    state.withLock { state in
      for epoch in Array(state.claims.keys) { state.set(epoch, nil) }
    }
  }

  /// Removes an item from its claim, together with all later items that have not begun. Leaves an item that has begun
  /// unchanged unless `always` is true.
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

  /// Records that a newer item has replaced a claimed item, so that the claimed item is not sent again if it has begun.
  func outdate(_ number: Int64) {
    state.withLock { state in
      guard let (held, index) = state.find(number) else { return }
      var claim = held
      claim.items[index].isOutdated = true
      state.set(claim.epoch, claim)
    }
  }

  /// Moves an item's claim to another owner, with only the items that have begun. Returns the claim as it was before.
  func moveClaim(holding number: Int64, to owner: Int64) -> Claim? {
    state.withLock { state in
      guard let before = state.epochs[number].flatMap({ state.claims[$0] }) else { return nil }
      var claim = before
      claim.owner = owner
      claim.items = claim.items.filter(\.hasBegun)
      state.set(before.epoch, claim.items.isEmpty ? nil : claim)
      return before
    }
  }

  // MARK: - Transactions

  /// Starts recording changes, so that they can be undone until `keep` is called.
  func open() {
    state.withLock { $0.before.append([:]) }
  }

  /// Keeps the changes since the last `open`. A savepoint's changes can still be undone with its transaction.
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
        // Items that have begun in the meantime stay begun.
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
  /// Returns the claim that contains an item, and the item's index in it.
  func find(_ number: Int64) -> (claim: ClaimTable.Claim, index: Int)? {
    guard let epoch = epochs[number], let claim = claims[epoch],
      let index = claim.items.firstIndex(where: { $0.number == number })
    else { return nil }
    return (claim, index)
  }

  /// Replaces a claim, or ends it if `claim` is `nil`.
  mutating func set(_ epoch: Int64, _ claim: ClaimTable.Claim?) {
    note(epoch)
    place(epoch, claim)
  }

  /// Removes one item from a claim without counting the claim's other items again.
  mutating func remove(_ index: Int, of epoch: Int64) {
    note(epoch)
    guard let item = claims[epoch]?.items.remove(at: index), let owner = claims[epoch]?.owner else { return }
    epochs[item.number] = nil
    if item.hasBegun { count(item, -1, of: owner) }
  }

  /// Saves a claim for `undo`, unless it has been saved since the last `open`.
  private mutating func note(_ epoch: Int64) {
    guard let last = before.indices.last, before[last].index(forKey: epoch) == nil else { return }
    before[last].updateValue(claims[epoch], forKey: epoch)
  }

  /// Adds `difference` to the number of begun items.
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

  /// Adds a claim to the counts and lookup tables, or removes it if `difference` is negative.
  private mutating func account(for claim: ClaimTable.Claim, _ difference: Int) {
    for item in claim.items {
      epochs[item.number] = difference > 0 ? claim.epoch : nil
      if item.hasBegun { count(item, difference, of: claim.owner) }
    }
    guard let lane = claim.lane else { return }
    let count = (lanes[claim.owner]?[lane] ?? 0) + difference
    lanes[claim.owner, default: [:]][lane] = count == 0 ? nil : count
  }
}
