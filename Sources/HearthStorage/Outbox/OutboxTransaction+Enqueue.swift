internal import FoundationEssentials
internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  func enqueue(_ items: [NewOutboxItem], within settings: OutboxSettings) throws -> [OutboxReceipt] {
    try items.enumerated().map { try enqueue($1, place: $0, within: settings) }
  }

  private func enqueue(_ new: NewOutboxItem, place: Int, within settings: OutboxSettings) throws -> OutboxReceipt {
    let draft = new.draft
    let known = counters.owner(draft.account, new.subject)
    let content = ItemDigest.content(
      method: draft.method, url: new.url.description, headers: draft.headers, body: draft.body)
    if let item = try twin(of: new, content, known, place: place) {
      return OutboxReceipt(item: try shown(item), isDuplicate: true)
    }
    let bytes = draft.byteCount(with: new.url)
    let lane = draft.isUnordered ? nil : draft.lane
    let progress = new.kept?.progress ?? ItemProgress(notBefore: draft.notBefore, expiresAt: draft.expiresAt, at: now)
    var replaced: [StoredItem]
    repeat {
      replaced = try known.flatMap { owner in try draft.replaceKey.map { try replaceable(owner, $0) } } ?? []
      guard counters.keptItems - replaced.count < settings.maxItems,
        counters.keptBytes - replaced.reduce(0, { $0 + $1.bytes }) + bytes <= settings.maxBytes
      else { throw OutboxStoreFailure.full }
      // Repeat if a replaced item's request was sent in the meantime.
    } while try !replaced.allSatisfy { try revoke($0) }

    let owner = try counters.madeOwner(draft.account, new.subject, in: db)
    let isBusy = try lane.map { try !replaced.isEmpty || isLaneBusy(owner, $0) } ?? false
    let isHead = progress.state.isActive && !isBusy
    let older = replaced.first { $0.state.isActive && $0.lane == lane }
    let position = older.flatMap { progress.state.isActive ? $0.position : nil } ?? counters.nextPlace()
    for item in replaced { try supersede(item) }
    let createdAt = new.kept?.createdAt ?? now
    let idempotencyKey = draft.idempotencyKey ?? new.id
    try execute(
      OutboxQueries.insert,
      [
        new.id, owner, lane, position, progress.state.number, isHead, progress.dueAt?.milliseconds ?? 0, draft.method,
        new.url.description, new.url.origin.description, progress.attempts, createdAt.milliseconds,
        progress.notBefore?.milliseconds,
        progress.expiresAt?.milliseconds, progress.nextAttemptAt?.milliseconds, idempotencyKey,
        draft.idempotencyKey == nil ? nil : content, draft.replaceKey, bytes, draft.expect?.rawValue,
        progress.reason?.rawValue, progress.unknownSince?.milliseconds, progress.hasLeft,
        progress.finishedAt?.milliseconds,
        progress.lastStatus, progress.lastError, try madeAt(new, at: createdAt).milliseconds,
      ])
    try execute(
      OutboxQueries.insertContent,
      [
        db.lastInsertedRowID, draft.headers.stored,
        // Store an empty body as NULL, which is read as an empty body.
        draft.body.isEmpty ? nil : Data(draft.body), ItemDigest.checksum(content, idempotencyKey: idempotencyKey),
      ])
    try draft.replaceKey.map { try outdate(owner, $0) }
    counters.added(progress.state, bytes: bytes, createdAt: createdAt, to: owner)
    effects.touched.insert(owner)
    if isHead { becameReady(owner, lane == nil ? .unordered : .lanes) }
    for lane in Set(replaced.compactMap(\.lane) + (replaced.isEmpty ? [] : [lane].compactMap(\.self))) {
      try promote(owner, lane)
    }
    var item = OutboxItem(
      id: new.id, account: draft.account, subject: new.subject, lane: lane, method: draft.method,
      url: new.url.description, state: progress.state, createdAt: now, nextAttemptAt: progress.nextAttemptAt,
      idempotencyKey: idempotencyKey, bytes: bytes)
    if new.kept != nil, let kept = try row(OutboxQueries.byID, [new.id]) { item = try shown(kept) }
    effects.commit.changes.append(.enqueued(item))
    return OutboxReceipt(item: item, isDuplicate: false)
  }

  /// Returns the existing item that makes the new one a duplicate: an item with the same idempotency key or, for an
  /// exported item, the same item or a later one with the same `replaceKey`.
  private func twin(of new: NewOutboxItem, _ content: Data, _ owner: Int64?, place: Int) throws -> StoredItem? {
    let draft = new.draft
    if let owner, let key = draft.idempotencyKey, let (item, kept) = try keyed(owner, key) {
      guard kept == content else { throw OutboxStoreFailure.keyConflict(at: place) }
      return item
    }
    guard let kept = new.kept else { return nil }
    if let item = try row(OutboxQueries.byID, [new.id]) {
      guard item.method == draft.method, item.url == new.url.description,
        counters.owners[item.owner]?.account == draft.account
      else { throw OutboxStoreFailure.keyConflict(at: place) }
      return item
    }
    guard let owner, let key = draft.replaceKey else { return nil }
    return try row(OutboxQueries.laterToReplace, [owner, key, kept.createdAt.milliseconds])
  }

  /// Returns the item with this idempotency key and its content's digest. An item that has ended without being sent
  /// loses its key, so that another item can use it.
  func keyed(_ owner: Int64, _ key: String) throws -> (StoredItem, digest: Data)? {
    let found = try db.firstRow(OutboxQueries.byKey, [owner, key]) {
      (try StoredItem($0), digest: Data(try $0.blob(28) ?? []))
    }
    guard let found, found.0.progress.hasEndedUnsent else { return found }
    try execute(OutboxQueries.dropKey, [found.0.number])
    return nil
  }

  // MARK: - Replacing

  /// Returns the time that orders an account's items with the same `replaceKey`, regardless of which user owns them. An
  /// exported item keeps its own time. Any other item becomes the newest, even if the clock was set back.
  private func madeAt(_ new: NewOutboxItem, at createdAt: Timestamp) throws -> Timestamp {
    guard let key = new.draft.replaceKey, new.kept == nil else { return createdAt }
    let owners = counters.owners.values.filter { $0.account == new.draft.account }
    let last = try owners.compactMap { try number(OutboxQueries.lastMade, [$0.id, key]) }.max()
    return last.map { max(createdAt, Timestamp(milliseconds: $0 + 1)) } ?? createdAt
  }

  /// Returns the items that a newer one with the same `replaceKey` replaces, in order. These are all items that could
  /// still be sent, except those in flight.
  private func replaceable(_ owner: Int64, _ key: Name) throws -> [StoredItem] {
    try rows(OutboxQueries.byReplaceKey, [owner, key]).filter { !claims.isBegun($0.number) }
      .sorted { $0.position < $1.position }
  }

  /// Returns whether a newer item with the same `replaceKey` was accepted, so that `item` must not be sent again.
  func isOutdated(_ item: StoredItem) throws -> Bool {
    guard let key = item.replaceKey else { return false }
    return try number(OutboxQueries.newerToReplace, [item.owner, key, item.madeAt.milliseconds, item.number]) != nil
  }

  /// Returns whether an older item with the same `replaceKey` may be in flight, so that `item` must wait.
  func isOvertaking(_ item: StoredItem) throws -> Bool {
    guard let key = item.replaceKey else { return false }
    return try rows(OutboxQueries.byReplaceKey, [item.owner, key]).contains {
      ($0.madeAt, $0.number) < (item.madeAt, item.number) && claims.isBegun($0.number)
    }
  }

  /// Marks replaced items whose requests may have been sent, so that they are not sent again.
  private func outdate(_ owner: Int64, _ key: Name) throws {
    for item in try rows(OutboxQueries.byReplaceKey, [owner, key])
    where try claims.isBegun(item.number) && isOutdated(item) { claims.outdate(item.number) }
  }

  /// Supersedes outdated items with this `replaceKey`. Called after an item has moved to this owner.
  func supersedeOutdated(_ owner: Int64, _ key: Name) throws {
    try outdate(owner, key)
    for item in try replaceable(owner, key) where try isOutdated(item) && revoke(item) {
      try supersede(item)
      effects.leavesContentInLog = true
      if let lane = item.lane { try promote(owner, lane) }
    }
  }

  /// Supersedes an item. The caller must promote the item's lane.
  func supersede(_ item: StoredItem) throws {
    var item = item
    item.progress.supersede(at: now)
    item.isHead = false
    item.position = counters.nextPlace()
    try publish(&item)
  }
}
