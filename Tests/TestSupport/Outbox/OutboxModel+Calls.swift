package import HearthCore

/// The calls of programs and people.
extension OutboxModel {
  package mutating func enqueue(
    _ new: [NewOutboxItem], within settings: OutboxSettings, at now: Timestamp
  ) throws(OutboxStoreFailure) -> [OutboxReceipt] {
    let before = self
    var receipts: [OutboxReceipt] = []
    do throws(OutboxStoreFailure) {
      for (place, item) in new.enumerated() {
        receipts.append(try enqueue(item, place: place, within: settings, at: now))
      }
    } catch {
      self = before
      throw error
    }
    commit()
    return receipts
  }

  private mutating func twin(of new: NewOutboxItem, place: Int) throws(OutboxStoreFailure) -> Item? {
    let owner = madeOwner(new.draft.account, new.subject)
    if let key = new.draft.idempotencyKey, let kept = keyed(owner, key) {
      guard Self.isSame(kept.new, new) else { throw .keyConflict(at: place) }
      return kept
    }
    return try new.kept.flatMap { kept throws(OutboxStoreFailure) in
      try stands(for: new, kept, owner, place: place)
    }
  }

  private mutating func enqueue(
    _ new: NewOutboxItem, place: Int, within settings: OutboxSettings, at now: Timestamp
  ) throws(OutboxStoreFailure) -> OutboxReceipt {
    let draft = new.draft
    let owner = madeOwner(draft.account, new.subject)
    let lane = madeLane(owner, draft)
    if let item = try twin(of: new, place: place) { return OutboxReceipt(item: shown(item), isDuplicate: true) }
    let bytes = draft.byteCount(with: new.url)
    let isActive = new.kept?.progress.state.isActive ?? true
    let replaced = items.values.filter {
      draft.replaceKey != nil && $0.owner == owner && $0.new.draft.replaceKey == draft.replaceKey
        && $0.progress.state.keepsContent && !isBegun($0.number)
    }
    let older =
      isActive
      ? order.compactMap { items[$0] }.first { item in
        item.lane == lane && replaced.contains { $0.number == item.number }
      } : nil
    let kept = items.values.filter(\.progress.state.keepsContent)
    guard kept.count - replaced.count < settings.maxItems,
      kept.reduce(0, { $0 + $1.bytes }) - replaced.reduce(0, { $0 + $1.bytes }) + bytes <= settings.maxBytes
    else { throw .full }
    for item in replaced.sorted(by: { $0.position < $1.position }) {
      _ = revoke(item.number)
      update(item.number) { $0.supersede(at: now) }
    }
    let number = nextCount()
    let item = Item(
      number: number, new: new, origin: new.url.origin, bytes: bytes, createdAt: new.kept?.createdAt ?? now,
      madeAt: madeAt(new, at: now), owner: owner, lane: lane, position: older?.position ?? number, placedAt: number,
      progress: new.kept?.progress ?? ItemProgress(notBefore: draft.notBefore, expiresAt: draft.expiresAt, at: now),
      holdsKey: draft.idempotencyKey != nil)
    items[number] = item
    if item.progress.state.isActive { insertInOrder(number) }
    touched.insert(draft.account)
    changes.append(.enqueued(shown(item)))
    return OutboxReceipt(item: shown(item), isDuplicate: false)
  }

  private func stands(
    for new: NewOutboxItem, _ kept: NewOutboxItem.Kept, _ owner: Int, place: Int
  ) throws(OutboxStoreFailure) -> Item? {
    let draft = new.draft
    if let item = items.values.first(where: { $0.new.id == new.id }) {
      guard item.account == draft.account, item.new.draft.method == draft.method, item.new.url == new.url else {
        throw .keyConflict(at: place)
      }
      return item
    }
    guard let key = draft.replaceKey else { return nil }
    return items.values.first {
      $0.owner == owner && $0.new.draft.replaceKey == key && $0.madeAt > kept.createdAt
    }
  }

  private func keyed(_ owner: Int, _ key: String) -> Item? {
    items.values.first {
      $0.owner == owner && $0.holdsKey && $0.new.draft.idempotencyKey == key && !$0.progress.hasEndedUnsent
    }
  }

  /// Whether the content is the same. Case and order of header names do not matter.
  package static func isSame(_ one: NewOutboxItem, _ other: NewOutboxItem) -> Bool {
    func headers(_ new: NewOutboxItem) -> [[String]] {
      new.draft.headers.enumerated().sorted { ($0.1.name.lowercased(), $0.0) < ($1.1.name.lowercased(), $1.0) }
        .map { [$1.name.lowercased(), $1.value] }
    }
    return one.draft.method == other.draft.method && one.url == other.url && one.draft.body == other.draft.body
      && headers(one) == headers(other)
  }

  package func item(_ id: String) -> OutboxItem? { items.values.first { $0.new.id == id }.map(shown) }

  package func list(_ query: OutboxQuery) -> OutboxPage {
    let after = query.cursor.flatMap { Int64($0) } ?? 0
    let found = items.values.sorted { ($0.position, $0.number) < ($1.position, $1.number) }.filter {
      $0.position > after && (query.account == nil || query.account == $0.account)
        && (query.lane == nil || !$0.new.draft.isUnordered && query.lane == $0.new.draft.lane)
        && (query.state == nil || query.state == shown($0).state)
    }
    let page = found.prefix(query.limit)
    let cursor = page.count < found.count ? page.last.map { "\($0.position)" } : nil
    return OutboxPage(items: page.map(shown), cursor: cursor)
  }

  package func export(_ query: OutboxQuery, bytes: Int, at moment: Timestamp) -> ExportPage {
    let found = items.values.sorted { ($0.position, $0.number) < ($1.position, $1.number) }.filter {
      let after = query.cursor.flatMap { Int64($0) } ?? 0
      return $0.position > after && (query.account == nil || query.account == $0.account)
        && (query.lane == nil || !$0.new.draft.isUnordered && query.lane == $0.new.draft.lane)
        && $0.progress.state.keepsContent && (query.state == nil || query.state == shown($0).state)
    }
    var (page, room) = ([Item](), bytes)
    for item in found.prefix(query.limit) {
      guard page.isEmpty || item.bytes <= room else { break }
      page.append(item)
      room -= item.bytes
    }
    let cursor = page.count < found.count ? page.last.map { "\($0.position)" } : nil
    return ExportPage(items: page.map { exported($0, at: moment) }, damaged: 0, cursor: cursor)
  }

  private func exported(_ item: Item, at moment: Timestamp) -> ExportedItem {
    let shown = shown(item)
    return ExportedItem(
      id: shown.id, subject: shown.subject, draft: item.new.draft, state: shown.state, reason: shown.reason,
      attempts: shown.attempts, createdAt: shown.createdAt,
      nextAttemptAt: item.progress.state == .waiting ? item.progress.dueAt : nil,
      unknownSince: item.progress.unknownSince, mayHaveLeft: item.progress.mayHaveLeft,
      lastStatus: shown.lastStatus, lastError: shown.lastError, exportedAt: moment)
  }

  package mutating func change(
    _ id: String, _ change: OutboxChange, at now: Timestamp
  ) throws(OutboxStoreFailure) -> OutboxItem {
    guard let number = items.values.first(where: { $0.new.id == id })?.number else { throw .unknownItem }
    guard apply(change, to: number, at: now) else { throw refusal(of: number, change) }
    commit()
    return shown(items[number]!)
  }

  package mutating func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64? = nil, limit: Int,
    at now: Timestamp
  ) -> (count: Int, place: Int64) {
    let place = place ?? lastCount
    let chosen = items.values.filter {
      $0.account == account && $0.position <= place && shown($0).state == state && !isHeldForOther($0)
    }
    var count = 0
    for item in chosen.sorted(by: { $0.position < $1.position }) where count < limit {
      if apply(change, to: item.number, at: now) { count += 1 }
    }
    commit()
    return (count, place)
  }

  private func refusal(of number: Int64, _ change: OutboxChange) -> OutboxStoreFailure {
    let item = shown(items[number]!)
    let isOutdated = change == .retry && isOutdated(items[number]!)
    return isOutdated ? .invalidState(.superseded) : .invalidState(item.state, item.reason)
  }

  private func isHeldForOther(_ item: Item) -> Bool {
    item.progress.isActive && isOtherUser(item.owner) && owners[item.owner].subject != .unnamedBefore
  }

  private mutating func apply(
    _ change: OutboxChange, to number: Int64, at now: Timestamp, always: Bool = false
  ) -> Bool {
    guard var progress = items[number]?.progress else { return false }
    switch change {
    case .cancel:
      guard progress.cancel(hasBegun: isBegun(number), at: now), revoke(number, always: always) else { return false }
    case .retry:
      let isLeft = owners[items[number]!.owner].subject == .unnamedBefore
      let keepsPlace = progress.isHeldInPlace && !isLeft
      guard progress.retry(at: now) || isLeft && progress.isActive, !isOutdated(items[number]!), revoke(number) else {
        return false
      }
      if keepsPlace { break }
      if isLeft {
        let nobody = madeOwner(items[number]!.account, nil)
        let state = items[number]!.progress.state
        settleKey(of: number, with: nobody, at: now)
        items[number]!.owner = nobody
        items[number]!.lane = madeLane(nobody, items[number]!.new.draft)
        if items[number]!.progress.state != state { return true }
      }
      items[number]!.position = nextCount()
      items[number]!.placedAt = items[number]!.position
    }
    update(number) { $0 = progress }
    return true
  }

  package mutating func free(
    _ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int, at now: Timestamp
  ) -> Int {
    let over = order.compactMap { items[$0] }.filter {
      $0.account == account && $0.progress.isHeldInPlace
        && owners[$0.owner].subject != .unnamedBefore
        && ($0.progress.reason == .needsStepUp ? signedIn : configured.contains($0.origin))
    }
    let count = over.prefix(limit).count { apply(.retry, to: $0.number, at: now) }
    commit()
    return count
  }

  package mutating func purge(
    _ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp
  ) -> Int {
    let subjects = subject == .last ? lastSubjects(of: account) : [subject]
    let chosen = items.values.filter {
      $0.account == account && subjects.contains(self.subject(of: $0)) && $0.progress.state.mayBeCancelled
    }
    let count = chosen.sorted { $0.position < $1.position }.prefix(limit).count {
      apply(.cancel, to: $0.number, at: now, always: true)
    }
    commit()
    return count
  }

  package mutating func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) -> Int {
    var count = 0
    for front in findFronts() where owners[front.owner].account == account && count < limit {
      guard !isOtherUser(front.owner), var progress = items[front.number]?.progress, progress.retryNow(at: now)
      else { continue }
      update(front.number, isPublished: false) { $0 = progress }
      count += 1
    }
    commit()
    return count
  }

  // MARK: - Owners

  package mutating func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int, at now: Timestamp
  ) -> OutboxBinding {
    let owner = madeOwner(account, subject)
    var theirs: Set<Int> = []
    if let former, former != subject { theirs.insert(madeOwner(account, former)) }
    if adopts { theirs.formUnion([madeOwner(account, nil), madeOwner(account, .unnamed)]) }
    theirs.remove(owner)
    let moved = items.values.filter { theirs.contains($0.owner) }.sorted { $0.position < $1.position }
    let count = nextCount()
    for item in moved.prefix(limit) {
      settleKey(of: item.number, with: owner, at: now)
      items[item.number]!.owner = owner
      items[item.number]!.lane = madeLane(owner, item.new.draft)
      items[item.number]!.placedAt = count
      touched.insert(account)
      for old in items.values.filter({ old in
        item.new.draft.replaceKey != nil && old.owner == owner && old.new.draft.replaceKey == item.new.draft.replaceKey
          && old.progress.state.keepsContent && isOutdated(old) && !isBegun(old.number)
      }) {
        _ = revoke(old.number)
        update(old.number) { $0.supersede(at: now) }
      }
    }
    if subject == .unnamedBefore {
      commit()
      return OutboxBinding(isDone: moved.count <= limit, holdsOthers: moved.contains { $0.progress.isActive })
    }
    let isChanged = current[account] != owner
    current[account] = owner
    if isChanged { touched.insert(account) }
    let holdsOthers =
      isChanged && order.contains { items[$0]!.account == account && isOtherUser(items[$0]!.owner) }
    commit()
    return OutboxBinding(isDone: moved.count <= limit, holdsOthers: holdsOthers)
  }

  /// If the new owner already has an item with this item's key, one of the two may be ended.
  private mutating func settleKey(of number: Int64, with owner: Int, at now: Timestamp) {
    guard let joining = items[number], joining.holdsKey, let key = joining.new.draft.idempotencyKey,
      !joining.progress.hasEndedUnsent, let own = keyed(owner, key)
    else { return }
    let isSame = Self.isSame(own.new, joining.new)
    let choose = isSame ? KeyedItem.duplicate : KeyedItem.doubtful
    let duplicate = choose(keyedItem(own), keyedItem(joining))
    let (ended, twin) = duplicate == .own ? (own, joining) : (joining, own)
    guard duplicate != nil, revoke(ended.number) else {
      items[isSame ? ended.number : number]!.holdsKey = false
      return
    }
    items[ended.number]!.holdsKey = false
    if !isSame { items[ended.number]!.new.draft.idempotencyKey = nil }
    items[ended.number]!.owner = owner
    update(ended.number) {
      if isSame { $0.supersede(by: twin.new.id, at: now) } else { $0.doubt(because: twin.new.id) }
    }
  }

  private func keyedItem(_ item: Item) -> KeyedItem {
    KeyedItem(item.progress, position: item.position, hasBegun: isBegun(item.number))
  }

  // MARK: - Time

  /// The clock was stepped.
  package mutating func shiftSchedule(by shift: Duration, at now: Timestamp) {
    moveSchedule(by: shift, at: now)
    commit()
  }

  private mutating func moveSchedule(by shift: Duration, at now: Timestamp) {
    for number in order {
      guard let progress = items[number]?.progress else { continue }
      items[number]!.progress.unknownSince = progress.unknownSince.map { min($0 + shift, now) }
      // An item with a `notBefore` waits for a time, not for a duration.
      guard let dueAt = progress.dueAt, progress.notBefore.map({ $0 < dueAt }) ?? true else { continue }
      let longest = now + .seconds(24 * 3600)
      items[number]!.progress.dueAt = min(dueAt + shift, longest)
      items[number]!.progress.nextAttemptAt = progress.nextAttemptAt.map { min($0 + shift, longest) }
    }
    for epoch in claims.keys { claims[epoch]!.since = claims[epoch]!.since + shift }
    scheduledAt = now
  }

  package mutating func prune(keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?) -> OutboxPruning
  {
    let finished = items.values.filter { $0.progress.finishedAt != nil && !$0.progress.state.keepsContent }
      .sorted { ($0.progress.finishedAt!, $0.number) < ($1.progress.finishedAt!, $1.number) }
    let surplus = max(finished.count - settings.maxItems, 0)
    var removed = Array(finished.prefix(surplus))
    if let agreedTime {
      removed += finished.dropFirst(surplus).filter { $0.progress.finishedAt! < agreedTime - settings.keepDelivered }
      removed += items.values.filter {
        $0.progress.state == .dead && $0.progress.finishedAt ?? .distantFuture < agreedTime - settings.keepDead
      }
    }
    for item in removed.prefix(limit) {
      items[item.number] = nil
      touched.insert(item.account)
    }
    commit()
    let nextAt = items.values.compactMap { item in
      item.progress.finishedAt.map {
        $0 + (item.progress.state == .dead ? settings.keepDead : settings.keepDelivered)
      }
    }.min()
    return OutboxPruning(isMore: removed.count >= limit, nextAt: nextAt)
  }

  package mutating func setPaused(_ accounts: Set<AccountName>, _ isPaused: Bool) {
    if isPaused { pausedAccounts.formUnion(accounts) } else { pausedAccounts.subtract(accounts) }
  }

  package mutating func configure(_ accounts: Set<AccountName>) -> Set<AccountName> {
    configured = accounts
    touched.formUnion(owners.map(\.account))
    commit()
    return pausedAccounts
  }

  // MARK: - Crashes

  /// The process has stopped, or with `losesPower` the machine. What has begun is forgotten.
  package mutating func crash(losesPower: Bool) {
    hasLostMarks = hasLostMarks || losesPower
    (changes, commits, configured) = ([], [], nil)
  }

  package mutating func recover(at now: Timestamp) {
    for claim in claims.values {
      for number in claim.items where hasLostMarks || claim.begun.contains(number) {
        update(number, isPublished: false) { $0.lost(since: claim.since) }
      }
    }
    (claims, claimOf, hasLostMarks) = ([:], [:], false)
    for number in order {
      guard let progress = items[number]?.progress, let dueAt = progress.dueAt, dueAt > now,
        let nextAttemptAt = progress.nextAttemptAt, nextAttemptAt > dueAt
      else { continue }
      // The item waits for its origin, not for a time, and the clock was set back.
      items[number]!.progress.dueAt = nil
    }
    // The clock may have been set while nothing was running.
    moveSchedule(by: min(now - scheduledAt, .zero), at: now)
    touched.formUnion(owners.map(\.account))
    readyAnew()
    commit(isOfAll: true)
  }
}
