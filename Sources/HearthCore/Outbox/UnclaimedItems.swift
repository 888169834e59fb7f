/// What is known about an account's unclaimed items: which kinds may be due, and when the next one is.
struct UnclaimedItems {
  /// The kinds of items that the store may still have for this account.
  private var kinds = OutboxKinds.all
  /// For each origin, the kinds of items that could not all be claimed for lack of room. No value is empty.
  private var left: [Origin: OutboxKinds] = [:]
  private(set) var nextDueAt: Timestamp?
  /// Whether the store is processing a demand for this account.
  private(set) var isClaiming = false

  var mayExist: Bool { !kinds.isEmpty || !left.isEmpty }

  /// Records that the store may have more items of these kinds.
  mutating func add(_ kinds: OutboxKinds) { self.kinds.formUnion(kinds) }

  /// Records that the store may still have items of these kinds for the origin.
  mutating func add(_ kinds: OutboxKinds, for origin: Origin) {
    if !kinds.isEmpty { left[origin, default: []].formUnion(kinds) }
  }

  /// Forgets what was left for an unreachable origin.
  mutating func forget(_ origin: Origin) { left[origin] = nil }

  /// Forgets what was left for each origin, because the origins may have changed.
  mutating func configured() { (kinds, left) = (.all, [:]) }

  /// Makes items claimable again that may have become due.
  mutating func lookAgain() { (kinds, nextDueAt) = (.all, nil) }

  /// Returns the rooms to claim items for now, or `nil` if there is no room for the items that the store may have.
  mutating func claim(within rooms: [Origin: OutboxDemand.Room]) -> [Origin: OutboxDemand.Room]? {
    var claimed = kinds.intersection(rooms.isEmpty ? .all : OutboxKinds(rooms.values.map(\.kinds)))
    for (origin, left) in left { claimed.formUnion(left.intersection(rooms[origin]?.kinds ?? [])) }
    if claimed.isEmpty { return nil }
    var demanded = rooms
    for (origin, room) in rooms {
      left[origin]?.subtract(claimed.intersection(room.kinds))
      if left[origin]?.isEmpty == true { left[origin] = nil }
      add(claimed.subtracting(room.kinds), for: origin)
      if !claimed.contains(.lanes) { demanded[origin]?.lanes = 0 }
      if !claimed.contains(.unordered) { demanded[origin]?.unordered = 0 }
    }
    kinds.subtract(claimed)
    isClaiming = true
    return demanded
  }

  mutating func endClaim() { isClaiming = false }

  /// Records what the store did not claim. The demand may not have covered every kind and origin, so what is known
  /// about the others stays.
  mutating func remain(_ claimed: OutboxExchange.Claimed) {
    nextDueAt = [nextDueAt, claimed.nextDueAt].compactMap(\.self).min()
    add(claimed.moved)
    for (origin, kinds) in claimed.cut { add(kinds, for: origin) }
  }
}
