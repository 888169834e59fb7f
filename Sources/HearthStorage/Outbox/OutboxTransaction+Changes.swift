internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// Items that were in flight when the process ended are pending again. Their requests may have been carried out.
  func recover(at now: Timestamp) throws {
    for owner in counters.owners.values where owner.counts[OutboxItem.State.inFlight.number] > 0 {
      let items = try rows(OutboxQueries.byState, [owner.id, OutboxItem.State.inFlight.number, 0, -1])
      for var item in items {
        item.state = .pending
        item.isHead = item.lane == nil
        item.dueAt = 0
        item.unknownSince = item.unknownSince ?? item.claimedAt ?? now
        item.lastError = "The daemon ended while the request was on its way."
        try write(item, was: .inFlight)
      }
      for item in items {
        guard let lane = item.lane else { continue }
        try promote(owner.id, lane)
      }
    }
    for owner in counters.owners.keys {
      for origin in try origins(of: owner) { try execute(OutboxQueries.free, [owner, origin, now.milliseconds]) }
    }
    try shiftSchedule(shift: .zero, at: now)
  }

  // MARK: - Changes that a person asks for

  func change(
    _ id: String, _ change: OutboxChange, releasing released: [FinishedDelivery], at now: Timestamp
  ) throws -> OutboxItem {
    _ = try finish(released, at: now)
    guard let item = try row(OutboxQueries.byID, [id]) else { throw OutboxStoreFailure.unknownItem }
    guard try apply(change, to: item, at: now), let changed = try row(OutboxQueries.byNumber, [item.number]) else {
      throw OutboxStoreFailure.invalidState(try item.item(in: counters).state)
    }
    return try changed.item(in: counters)
  }

  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int, at now: Timestamp
  ) throws -> Int {
    var count = 0
    for owner in counters.owners.values where owner.account == account && count < limit {
      if counters.isOtherUser(owner), state == .pending || state == .waiting { continue }
      for item in try rows(OutboxQueries.byState, [owner.id, state.number, 0, limit - count]) {
        if try apply(change, to: item, at: now) { count += 1 }
      }
    }
    return count
  }

  private func apply(_ change: OutboxChange, to item: StoredItem, at now: Timestamp) throws -> Bool {
    var item = item
    let old = item.state
    switch change {
    case .cancel:
      guard old.mayBeCancelled else { return false }
      item.state = .cancelled
      item.reason = nil
      item.isHead = false
      item.nextAttemptAt = nil
      item.finishedAt = now
      try write(item, was: old)
      if let lane = item.lane { try promote(item.owner, lane) }
    case .retry:
      guard old == .dead || old == .held else { return false }
      item.state = .pending
      item.reason = nil
      item.position = counters.nextPlace()
      item.isHead = try item.lane.map { try !isLaneBusy(item.owner, $0) } ?? true
      item.dueAt = 0
      (item.attempts, item.conflicts) = (0, 0)
      (item.unknownSince, item.notBefore, item.expiresAt, item.finishedAt) = (nil, nil, nil, nil)
      try write(item, was: old)
    }
    return true
  }

  func purge(_ account: AccountName, of subject: Subject?, limit: Int, at now: Timestamp) throws -> Int {
    guard let owner = counters.owner(account, subject) else { return 0 }
    var count = 0
    for state in [OutboxItem.State.pending, .waiting, .held] where count < limit {
      for item in try rows(OutboxQueries.byState, [owner, state.number, 0, limit - count]) {
        if try apply(.cancel, to: item, at: now) { count += 1 }
      }
    }
    return count
  }

  func retryNow(_ account: AccountName, limit: Int, at now: Timestamp) throws -> Int {
    var count = 0
    for owner in counters.owners.values where owner.account == account && !counters.isOtherUser(owner) {
      for origin in try origins(of: owner.id) where count < limit {
        var after = now.milliseconds
        while count < limit,
          case let items = try rows(OutboxQueries.retrying, [owner.id, origin, after, limit]), !items.isEmpty
        {
          for var item in items {
            after = item.dueAt
            let dueAt = max(item.notBefore ?? now, now)
            guard dueAt.milliseconds < item.dueAt else { continue }
            item.dueAt = dueAt.milliseconds
            item.nextAttemptAt = dueAt
            try write(item, was: item.state)
            count += 1
          }
        }
      }
    }
    return count
  }

  func shiftSchedule(shift: Duration, at now: Timestamp) throws {
    let longest = (now + .seconds(24 * 3600)).milliseconds
    for owner in counters.owners.keys {
      for origin in try origins(of: owner) {
        if shift != .zero { try execute(OutboxQueries.shift, [shift.wholeMilliseconds, owner, origin]) }
        try execute(OutboxQueries.cap, [longest, owner, origin])
      }
    }
  }

  // MARK: - Owners

  func bind(
    _ account: AccountName, to subject: Subject, formerly former: Subject?, adopts: Bool, limit: Int
  ) throws -> OutboxBinding {
    var isDone = true
    let before = former.flatMap { $0 == subject ? nil : counters.owner(account, $0) }
    for theirs in [before, adopts ? counters.owner(account, nil) : nil].compactMap(\.self) {
      if let owner = counters.owner(account, subject) {
        isDone = try merge(theirs, into: owner, limit: limit) && isDone
      } else {
        try counters.name(theirs, subject, in: db)
      }
    }
    let owner = try counters.madeOwner(account, subject, in: db)
    return OutboxBinding(isDone: isDone, holdsOthers: counters.makeCurrent(owner))
  }

  /// Moves items that were made under another name, or while no user was known, to their owner. They keep their
  /// positions.
  private func merge(_ former: Int64, into owner: Int64, limit: Int) throws -> Bool {
    var left = limit
    for state in OutboxItem.State.byNumber where state != .inFlight && left > 0 {
      let items = try rows(OutboxQueries.byState, [former, state.number, 0, left])
      left -= items.count
      for var item in items {
        let oldHead = try state.isActive ? item.lane.flatMap { try first(owner, $0) } : nil
        if let oldHead, oldHead.isHead { try execute(OutboxQueries.setHead, [false, oldHead.number]) }
        item.owner = owner
        if item.lane != nil { item.isHead = false }
        try write(item, was: state)
        counters.removed(state, bytes: item.bytes, of: former)
        counters.added(state, bytes: item.bytes, createdAt: item.createdAt, to: owner)
        if state.isActive, let lane = item.lane {
          try promote(owner, lane)
          try promote(former, lane)
        }
      }
    }
    return left > 0
  }

  // MARK: - Housekeeping

  func expire(limit: Int, at now: Timestamp) throws -> [OutboxItem] {
    try rows(OutboxQueries.expired, [now.milliseconds, limit]).map { item in
      try leaveLane(item, .expired, at: now).item(in: counters)
    }
  }

  func prune(keeping settings: OutboxSettings, limit: Int, at now: Timestamp) throws -> Bool {
    var left = limit
    for state in [OutboxItem.State.delivered, .cancelled, .superseded, .dead] where left > 0 {
      let isDead = state == .dead
      let kept = isDead ? settings.keepDead : settings.keepDelivered
      let count = counters.owners.values.reduce(0) { $0 + $1.counts[state.number] }
      let isTooMany = !isDead && count > settings.maxItems
      let before = isTooMany ? Timestamp.distantFuture : now - kept
      let most = isTooMany ? min(left, count - settings.maxItems) : left
      for item in try rows(OutboxQueries.finished, [state.number, before.milliseconds, most]) {
        try execute(OutboxQueries.delete, [item.number])
        if isDead { try execute(OutboxQueries.deleteContent, [item.number]) }
        counters.removed(state, bytes: item.bytes, of: item.owner)
        left -= 1
      }
    }
    // Some free pages stay for the next items.
    let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    let isLoose = free > Self.keptFreePages
    if isLoose {
      _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(min(free - Self.keptFreePages, 4 * limit)))")
    }
    return left <= 0 || free > Self.keptFreePages + 4 * limit
  }

  private static let keptFreePages = 256
}
