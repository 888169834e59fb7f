internal import FoundationEssentials
internal import GRDB
internal import HearthCore

/// Moves items to another owner when a user is identified or has signed out.
extension OutboxTransaction {
  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) throws -> OutboxBinding {
    var (isDone, leavesItems) = (true, false)
    var others = [former].compactMap(\.self) as [Subject?]
    if adopts { others += subject == .unnamed ? [nil] : [nil, .unnamed] }
    for other in others where other != subject {
      guard let theirs = counters.owner(account, other) else { continue }
      leavesItems = leavesItems || counters.owners[theirs].map { $0.counts[..<3].contains { $0 > 0 } } ?? false
      effects.touched.insert(theirs)
      if let owner = counters.owner(account, subject) {
        isDone = try merge(theirs, into: owner, limit: limit) && isDone
      } else {
        try counters.name(theirs, subject, in: db)
      }
    }
    // The items of `unnamedBefore` are always held, so this subject never becomes the account's current user.
    if subject == .unnamedBefore { return OutboxBinding(isDone: isDone, holdsOthers: leavesItems) }
    let owner = try counters.madeOwner(account, subject, in: db)
    let holdsOthers = counters.makeCurrent(owner)
    // The set of held items may have changed for all of the account's users.
    effects.touched.formUnion(counters.owners.values.lazy.filter { $0.account == account }.map(\.id))
    noteReady(owner)
    return OutboxBinding(isDone: isDone, holdsOthers: holdsOthers)
  }

  /// Moves up to `limit` items to `owner` from `former`, which has no named subject or an earlier one of the same user.
  /// The items keep their positions. Claimed items stay claimed only if they are in flight. Returns false if the limit
  /// was reached.
  private func merge(_ former: Int64, into owner: Int64, limit: Int) throws -> Bool {
    var left = limit
    for state in OutboxItem.State.byNumber where left > 0 {
      let items = try rows(OutboxQueries.byState, [former, state.number, 0, left])
      left -= items.count
      for item in items where try !mergeClaim(of: item, into: owner) {
        try merge(item, into: owner)
      }
    }
    return left > 0
  }

  /// Moves all items of a claim together, so that their positions still match the claim after a crash. Returns false if
  /// the item is not claimed.
  private func mergeClaim(of item: StoredItem, into owner: Int64) throws -> Bool {
    // The item may have moved with the claim of an earlier item.
    guard try row(OutboxQueries.byNumber, [item.number])?.owner == item.owner else { return true }
    guard let before = claims.moveClaim(holding: item.number, to: owner) else { return false }
    if let last = before.items.last(where: \.hasBegun) {
      try execute(OutboxQueries.moveClaim, [owner, before.epoch])
      try execute(OutboxQueries.cutClaim, [last.position, before.epoch])
    } else {
      try execute(OutboxQueries.endClaim, [before.epoch])
    }
    for claimed in before.items {
      guard var item = try row(OutboxQueries.byNumber, [claimed.number]) else { continue }
      if item.lane == nil { item.isHead = !claimed.hasBegun }
      try merge(item, into: owner)
    }
    return true
  }

  func merge(_ item: StoredItem, into owner: Int64) throws {
    var item = item
    let isEnded = try settleKey(of: &item, with: owner)
    let (former, state) = (item.owner, item.state)
    let oldHead = try state.isActive ? item.lane.flatMap { try first(owner, $0) } : nil
    if let oldHead, oldHead.isHead { try execute(OutboxQueries.setHead, [false, oldHead.number]) }
    try execute(OutboxQueries.cedeKey, [item.number, owner])
    item.owner = owner
    if item.lane != nil { item.isHead = false }
    try write(&item)
    counters.removed(state, bytes: item.bytes, of: former)
    counters.added(state, bytes: item.bytes, createdAt: item.createdAt, to: owner)
    if state.isActive || isEnded, let lane = item.lane {
      try promote(owner, lane)
      try promote(former, lane)
    }
    if isEnded { effects.commit.changes.append(.changed(try shown(item))) }
    try item.replaceKey.map { try supersedeOutdated(owner, $0) }
  }

  /// If the new owner already has an item with the same idempotency key, decides which of the two items keeps the key.
  /// Returns true if `joining` was superseded or is held for review.
  private func settleKey(of joining: inout StoredItem, with owner: Int64) throws -> Bool {
    guard
      let digest = try Data.fetchOne(try db.cachedStatement(sql: OutboxQueries.digest), arguments: [joining.number]),
      !joining.progress.hasEndedUnsent, let (twin, kept) = try keyed(owner, joining.idempotencyKey)
    else { return false }
    var own = twin
    let isSame = digest == kept
    let duplicate =
      isSame
      ? KeyedItem.duplicate(own: keyedItem(own), joining: keyedItem(joining))
      : KeyedItem.doubtful(own: keyedItem(own), joining: keyedItem(joining))
    switch duplicate {
    case nil: return false
    case .joining:
      try end(&joining, digest, for: own, isSame: isSame)
      return true
    case .own:
      // If the request of `own` has begun in the meantime, decide again.
      guard try revoke(own) else { return try settleKey(of: &joining, with: owner) }
      try end(&own, kept, for: joining, isSame: isSame)
      if isSame { try execute(OutboxQueries.dropKey, [own.number]) }
      effects.commit.changes.append(.changed(try shown(own)))
      if let lane = own.lane { try promote(owner, lane) }
      return false
    }
  }

  private func keyedItem(_ item: StoredItem) -> KeyedItem {
    KeyedItem(item.progress, position: item.position, hasBegun: claims.isBegun(item.number))
  }

  /// Ends an item because `twin` has the same key. If `isSame` is true, both have the same content, and the item is
  /// superseded. Otherwise, it is held for review with a new key, because no API may receive the same key with
  /// different contents.
  private func end(_ item: inout StoredItem, _ digest: Data, for twin: StoredItem, isSame: Bool) throws {
    if isSame {
      item.progress.supersede(by: twin.id, at: now)
    } else {
      item.progress.doubt(because: twin.id)
      item.idempotencyKey = item.id
      try execute(OutboxQueries.setKey, [item.id, item.number])
      try execute(OutboxQueries.setChecksum, [ItemDigest.checksum(digest, idempotencyKey: item.id), item.number])
    }
    item.isHead = false
    try write(&item)
    if isSame { effects.leavesContentInLog = true }
  }
}
