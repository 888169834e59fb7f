internal import FoundationEssentials
internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  func enqueue(
    _ items: [NewOutboxItem], within settings: OutboxSettings
  ) throws -> [OutboxReceipt] {
    try items.enumerated().map { try enqueue($1, place: $0, within: settings) }
  }

  private func enqueue(
    _ new: NewOutboxItem, place: Int, within settings: OutboxSettings
  ) throws -> OutboxReceipt {
    let draft = new.draft
    let known = counters.owner(draft.account, new.subject)
    let content = content(of: new)
    if let item = try twin(of: new, content, known, place: place) {
      return OutboxReceipt(item: try shown(item), isDuplicate: true)
    }
    let bytes = draft.body.count + draft.headers.reduce(0) { $0 + $1.byteCount }
    let lane = draft.isUnordered ? nil : draft.lane
    let progress =
      new.kept?.progress ?? ItemProgress(notBefore: draft.notBefore, expiresAt: draft.expiresAt, at: now)
    var older: StoredItem?
    repeat {
      let replaceKey = progress.state.isActive ? draft.replaceKey : nil
      older = try known.flatMap { owner in try replaceKey.flatMap { try replaced(owner, $0, lane) } }
      guard counters.keptItems - (older == nil ? 0 : 1) < settings.maxItems,
        counters.keptBytes - (older?.bytes ?? 0) + bytes <= settings.maxBytes
      else { throw OutboxStoreFailure.full }
      // Its request may leave just now.
    } while try older.map { try !revoke($0) } ?? false

    let owner = try counters.madeOwner(draft.account, new.subject, in: db)
    let isHead = try progress.state.isActive && (lane.map { try older?.isHead ?? !isLaneBusy(owner, $0) } ?? true)
    let position = older?.position ?? counters.nextPlace()
    if let older { try supersede(older) }
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
        progress.reason?.rawValue, progress.unknownSince?.milliseconds, progress.finishedAt?.milliseconds,
        progress.lastStatus, progress.lastError,
      ])
    try execute(
      OutboxQueries.insertContent,
      [
        db.lastInsertedRowID, StoredHeaders.encode(draft.headers),
        // An empty body is stored as NULL: SQLite reads a null pointer as that anyway.
        draft.body.isEmpty ? nil : Data(draft.body), ItemDigest.checksum(content, idempotencyKey: idempotencyKey),
      ])
    counters.added(progress.state, bytes: bytes, createdAt: new.kept == nil ? now : nil, to: owner)
    effects.touched.insert(owner)
    if isHead { becameReady(owner, lane == nil ? .unordered : .lanes) }
    // The claim on the item that was replaced may have ended.
    if !isHead, older != nil, let lane { try promote(owner, lane) }
    var item = OutboxItem(
      id: new.id, account: draft.account, subject: new.subject, lane: lane, method: draft.method,
      url: new.url.description, state: progress.state, createdAt: now, nextAttemptAt: progress.nextAttemptAt,
      idempotencyKey: idempotencyKey, bytes: bytes)
    if new.kept != nil, let kept = try row(OutboxQueries.byID, [new.id]) { item = try shown(kept) }
    effects.changes.append(.enqueued(item))
    return OutboxReceipt(item: item, isDuplicate: false)
  }

  /// For each the item that is there in its place; nil where `enqueue` would keep it.
  func known(_ items: [NewOutboxItem]) throws -> [OutboxItem?] {
    try items.enumerated().map { place, new in
      let owner = counters.owner(new.draft.account, new.subject)
      return try twin(of: new, content(of: new), owner, place: place).map(shown)
    }
  }

  private func content(of new: NewOutboxItem) -> Data {
    ItemDigest.content(
      method: new.draft.method, url: new.url.description, headers: new.draft.headers, body: new.draft.body)
  }

  /// The item that is there in place of this one: with its key, or for one that was exported.
  private func twin(of new: NewOutboxItem, _ content: Data, _ owner: Int64?, place: Int) throws -> StoredItem? {
    if let owner, let key = new.draft.idempotencyKey, let (item, kept) = try keyed(owner, key) {
      guard kept == content else { throw OutboxStoreFailure.keyConflict(at: place) }
      return item
    }
    return try new.kept.flatMap { try stands(for: new, $0, owner, place: place) }
  }

  /// The item that is there in place of one that was exported: it, or a newer one that replaces it.
  private func stands(
    for new: NewOutboxItem, _ kept: NewOutboxItem.Kept, _ owner: Int64?, place: Int
  ) throws -> StoredItem? {
    let draft = new.draft
    if let item = try row(OutboxQueries.byID, [new.id]) {
      guard item.method == draft.method, item.url == new.url.description,
        counters.owners[item.owner]?.account == draft.account
      else { throw OutboxStoreFailure.keyConflict(at: place) }
      return item
    }
    guard kept.progress.state.isActive, let owner, let key = draft.replaceKey,
      let other = try replaced(owner, key, draft.isUnordered ? nil : draft.lane), other.createdAt > kept.createdAt
    else { return nil }
    return other
  }

  /// The item with this idempotency key, and the digest of its content.
  func keyed(_ owner: Int64, _ key: String) throws -> (StoredItem, digest: Data)? {
    try db.firstRow(OutboxQueries.byKey, [owner, key]) { (try StoredItem($0), Data(try $0.blob(24) ?? [])) }
  }

  /// The item that a newer one with the same `replaceKey` replaces: a pending or waiting one of the same lane whose
  /// request has not left.
  private func replaced(_ owner: Int64, _ key: String, _ lane: String?) throws -> StoredItem? {
    for state in [OutboxItem.State.pending, .waiting] {
      let items = try rows(OutboxQueries.byReplaceKey, [owner, key, state.number, lane])
      if let item = items.first(where: { !claims.isBegun($0.number) }) { return item }
    }
    return nil
  }

  private func supersede(_ item: StoredItem) throws {
    var item = item
    let old = item.progress.state
    item.progress.supersede(at: now)
    item.isHead = false
    item.position = counters.nextPlace()
    try publish(item, was: old)
  }
}
