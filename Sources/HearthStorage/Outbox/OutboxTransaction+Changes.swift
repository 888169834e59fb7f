internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  /// Ends all earlier claims, so that their items can be claimed again. Items whose requests may have been sent become
  /// pending with an unknown result.
  func recover() throws {
    let marks = claims.marks()
    claims.endAll()
    let left = try db.rows(OutboxQueries.everyClaim) { try StoredClaim($0) }
    for claim in left {
      let mark = marks?[claim.epoch]
      // Without marks from this boot, any of the claim's requests may have been sent.
      let last = min(claim.last, marks == nil ? .max : mark?.position ?? 0)
      for var item in try items(of: claim) where item.position <= last {
        // The request may have been sent long after the claim, for example if the machine slept in between.
        let delay = mark.map { $0.position == item.position ? $0.delay : .zero } ?? .zero
        item.progress.lost(since: claim.claimedAt + delay)
        try write(&item)
      }
      try execute(OutboxQueries.endClaim, [claim.epoch])
    }
    for claim in left {
      if let lane = claim.lane {
        try promote(claim.owner, lane)
      } else {
        for item in try items(of: claim) { try execute(OutboxQueries.setHead, [true, item.number]) }
      }
    }
    for owner in counters.owners.keys {
      for origin in try origins(of: owner) { try execute(OutboxQueries.free, [owner, origin, now.milliseconds]) }
    }
    effects.touched.formUnion(counters.owners.keys)
    effects.commit.isOfAll = true
    for owner in counters.owners.keys { noteReady(owner) }
    // The clock may have been set while the daemon was not running. If the clock now shows an earlier time than when
    // the schedule last changed, it was set back by at least the difference, so the schedule is moved back by the same
    // amount.
    try shiftSchedule(by: min(now - counters.scheduledAt, .zero))
    afterCommit.append { [claims] in claims.openForClaims() }
  }

  /// Reports that an owner's items can be claimed, if there are any.
  func noteReady(_ owner: Int64) {
    if let owner = counters.owners[owner], owner.undelivered > 0 { becameReady(owner.id, .all) }
  }

  /// Returns the claim's items that have not been settled.
  private func items(of claim: StoredClaim) throws -> [StoredItem] {
    guard let lane = claim.lane else {
      return try rows(OutboxQueries.byNumber, [claim.head]).filter(\.state.isActive)
    }
    return try [OutboxItem.State.pending, .waiting].flatMap { state in
      try rows(OutboxQueries.window, [claim.owner, lane, state.number, claim.first, claim.last])
    }
  }

  // MARK: - Changes that a user requests

  func change(_ id: String, _ change: OutboxChange) throws -> OutboxItem {
    guard let stored = try row(OutboxQueries.byID, [id]) else { throw OutboxStoreFailure.unknownItem }
    guard let changed = try apply(change, to: stored) else {
      let item = try shown(stored)
      let isOutdated = try change == .retry && isOutdated(stored)
      throw isOutdated ? OutboxStoreFailure.invalidState(.superseded) : .invalidState(item.state, item.reason)
    }
    return try shown(changed)
  }

  func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, upTo place: Int64, limit: Int
  ) throws -> Int {
    var count = 0
    var query = OutboxQuery(account: account, state: state, limit: limit)
    repeat {
      let page = try list(query)
      query.cursor = page.cursor
      for shown in page.items where count < limit && (shown.reason != .otherUser || shown.subject == .unnamedBefore) {
        if let item = try row(OutboxQueries.byID, [shown.id]), item.position <= place,
          try apply(change, to: item) != nil
        {
          count += 1
        }
      }
    } while count < limit && query.cursor != nil
    return count
  }

  func free(_ account: AccountName, configured: Set<Origin>, signedIn: Bool, limit: Int) throws -> Int {
    var count = 0
    for owner in counters.owners.values where owner.account == account && owner.subject != .unnamedBefore {
      var after: Int64 = 0
      let state = OutboxItem.State.inFlight.number
      while count < limit, case let items = try rows(OutboxQueries.byState, [owner.id, state, after, limit]),
        let last = items.last
      {
        after = last.position
        for item in items where count < limit {
          let isOver =
            item.progress.reason == .needsStepUp
            ? signedIn : (try? HTTPURL(item.url)).map { configured.contains($0.origin) } ?? false
          if try isOver && apply(.retry, to: item) != nil { count += 1 }
        }
      }
    }
    return count
  }

  /// Applies the change and returns the changed item, or `nil` if the item does not allow the change. If `always` is
  /// true, cancels the item even if its request may have been sent.
  private func apply(_ change: OutboxChange, to item: StoredItem, always: Bool = false) throws -> StoredItem? {
    let before = item
    var item = item
    switch change {
    case .cancel:
      guard item.progress.cancel(hasBegun: claims.isBegun(item.number), at: now), try revoke(item, always: always)
      else { return nil }
      item.isHead = false
      try publish(&item)
      if let lane = item.lane { try promote(item.owner, lane) }
      effects.leavesContentInLog = true
    case .retry:
      let owner = counters.owners[item.owner]
      let isLeft = owner?.subject == .unnamedBefore
      let wasActive = before.state.isActive
      guard item.progress.retry(at: now) || isLeft && wasActive, try !isOutdated(before) else { return nil }
      if wasActive, isLeft, try !revoke(before) { return nil }
      if isLeft, let account = owner?.account {
        // The item's owner cannot be determined, so the account's next user becomes its owner.
        try merge(before, into: counters.madeOwner(account, nil, in: db))
        guard let moved = try row(OutboxQueries.byNumber, [item.number]), moved.state == before.state
        else { return before }
        item.owner = moved.owner
      }
      if isLeft || !wasActive { item.position = counters.nextPlace() }
      item.isHead = item.lane == nil
      try publish(&item)
      if let lane = item.lane { try promote(item.owner, lane) } else { becameReady(item.owner, .unordered) }
    }
    return item
  }

  func purge(_ account: AccountName, of subject: Subject?, limit: Int) throws -> Int {
    var count = 0
    for owner in owners(account, subject) {
      for state in [OutboxItem.State.pending, .inFlight, .waiting, .held, .dead] where count < limit {
        for item in try rows(OutboxQueries.byState, [owner, state.number, 0, limit - count]) {
          if try apply(.cancel, to: item, always: true) != nil { count += 1 }
        }
      }
    }
    return count
  }

  private func owners(_ account: AccountName, _ subject: Subject?) -> [Int64] {
    guard subject == .last else { return [counters.owner(account, subject)].compactMap(\.self) }
    guard let last = counters.owners.values.first(where: { $0.account == account && $0.isCurrent }) else { return [] }
    if last.subject?.named != nil { return [last.id] }
    return [.unnamed, .unnamedBefore].compactMap { counters.owner(account, $0) }
  }

  func retryNow(_ account: AccountName, limit: Int) throws -> Int {
    var count = 0
    for owner in counters.owners.values where owner.account == account && !counters.isOtherUser(owner) {
      for origin in try origins(of: owner.id) where count < limit {
        var after = now.milliseconds
        while count < limit,
          case let items = try rows(OutboxQueries.retrying, [owner.id, origin, after, limit]), !items.isEmpty
        {
          for var item in items {
            after = item.dueAt
            guard item.progress.retryNow(at: now) else { continue }
            try write(&item)
            becameReady(owner.id, item.lane == nil ? .unordered : .lanes)
            count += 1
          }
        }
      }
    }
    return count
  }

  /// Adjusts the schedule to a clock step. Waits before retries keep their length, up to the longest that a server can
  /// request. The time since a result became unknown stays the same.
  func shiftSchedule(by shift: Duration) throws {
    let longest = (now + .seconds(24 * 3600)).milliseconds
    for owner in counters.owners.keys {
      for origin in try origins(of: owner) {
        if shift != .zero { try execute(OutboxQueries.shift, [shift.wholeMilliseconds, owner, origin]) }
        try execute(OutboxQueries.cap, [longest, owner, origin])
      }
    }
    if shift != .zero {
      try execute(OutboxQueries.shiftClaimed, [shift.wholeMilliseconds])
      try execute(OutboxQueries.shiftUnknown, [shift.wholeMilliseconds])
      try execute(OutboxQueries.shiftClaims, [shift.wholeMilliseconds])
    }
    try execute(OutboxQueries.clampUnknown, [now.milliseconds])
    scheduled()
  }

  // MARK: - Housekeeping

  func expire(limit: Int, by agreedTime: Timestamp?) throws -> Timestamp? {
    guard let agreedTime else { return try nextExpiry() }
    var left = limit
    for item in try rows(OutboxQueries.expired, [agreedTime.milliseconds, limit + claims.begunCount]) where left > 0 {
      if try leaveLane(item, .expired) { left -= 1 }
    }
    return try nextExpiry()
  }

  func prune(keeping settings: OutboxSettings, limit: Int, by agreedTime: Timestamp?) throws -> OutboxPruning {
    var left = limit
    // The log may still contain the content of recent deliveries, even if there is nothing to remove now.
    effects.leavesContentInLog = true
    for state in [OutboxItem.State.delivered, .cancelled, .superseded, .dead] where left > 0 {
      // Use the local time. A server's clock may be behind, and times clamped to it would seem too old to the next
      // server.
      if agreedTime != nil { try execute(OutboxQueries.clampFinished, [now.milliseconds, state.number]) }
      let isDead = state == .dead
      let kept = isDead ? settings.keepDead : settings.keepDelivered
      let count = counters.owners.values.reduce(0) { $0 + $1[state] }
      let isTooMany = !isDead && count > settings.maxItems
      guard let before = isTooMany ? .distantFuture : agreedTime.map({ $0 - kept }) else { continue }
      let most = isTooMany ? min(left, count - settings.maxItems) : left
      for item in try rows(OutboxQueries.finished, [state.number, before.milliseconds, most]) {
        try execute(OutboxQueries.delete, [item.number])
        if isDead { try execute(OutboxQueries.deleteContent, [item.number]) }
        counters.removed(state, bytes: item.bytes, of: item.owner)
        effects.touched.insert(item.owner)
        left -= 1
      }
    }
    return OutboxPruning(isMore: left <= 0, nextAt: try nextPrune(keeping: settings))
  }

  private func nextPrune(keeping settings: OutboxSettings) throws -> Timestamp? {
    try [OutboxItem.State.delivered, .cancelled, .superseded, .dead].compactMap { state in
      try number(OutboxQueries.firstFinished, [state.number]).map {
        Timestamp(milliseconds: $0) + (state == .dead ? settings.keepDead : settings.keepDelivered)
      }
    }.min()
  }
}
