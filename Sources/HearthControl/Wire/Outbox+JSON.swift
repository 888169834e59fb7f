package import HearthCore

/// An outbox item as clients see it (contract, section 6). Neither its headers nor its body are told.
extension OutboxItem: TimelessWireValue {
  package var json: JSON {
    [
      "id": .string(id), "account": .string(account.description), "subject": JSON(subject?.id), "lane": JSON(lane),
      "method": .string(method), "url": .string(url), "state": .string(state.rawValue),
      "reason": JSON(reason?.rawValue), "attempts": JSON(attempts), "createdAt": JSON(createdAt),
      "nextAttemptAt": JSON(nextAttemptAt), "lastStatus": JSON(lastStatus), "lastError": JSON(lastError),
      "idempotencyKey": .string(idempotencyKey), "bytes": JSON(bytes),
    ]
  }

  package init?(json: JSON) {
    var reader = MemberReader(json)
    guard let id = json["id"]?.string, let account = json["account"]?.account, let method = json["method"]?.string,
      let url = json["url"]?.string, let state = json["state"]?.string.flatMap({ State(rawValue: $0) }),
      let attempts = json["attempts"]?.int, let createdAt = json["createdAt"]?.timestamp,
      let key = json["idempotencyKey"]?.string, let bytes = json["bytes"]?.int
    else { return nil }
    self.init(
      id: id, account: account,
      // The wire names no issuer here.
      subject: reader.optional("subject") { $0.string.map { Subject(issuer: "", id: $0, isIssuerAssumed: true) } },
      lane: reader.optional("lane", \.string), method: method, url: url, state: state,
      reason: reader.optional("reason") { $0.string.flatMap { Reason(rawValue: $0) } }, attempts: attempts,
      createdAt: createdAt, nextAttemptAt: reader.optional("nextAttemptAt", \.timestamp),
      lastStatus: reader.optional("lastStatus", \.int), lastError: reader.optional("lastError", \.string),
      idempotencyKey: key, bytes: bytes)
    guard reader.isUnderstood else { return nil }
  }
}

/// Counts of the outbox, of one account or of all.
extension OutboxStats: TimelessWireValue {
  package var json: JSON {
    [
      "pending": JSON(pending), "inFlight": JSON(inFlight), "waiting": JSON(waiting), "held": JSON(held),
      "delivered": JSON(delivered), "dead": JSON(dead), "bytes": JSON(bytes), "oldestPendingAt": JSON(oldestPendingAt),
      "paused": .bool(isPaused), "pausedReason": JSON(pausedReason),
    ]
  }

  package init?(json: JSON) {
    self.init()
    guard let pending = json["pending"]?.int, let inFlight = json["inFlight"]?.int,
      let waiting = json["waiting"]?.int, let held = json["held"]?.int, let delivered = json["delivered"]?.int,
      let dead = json["dead"]?.int, let bytes = json["bytes"]?.int, let isPaused = json["paused"]?.bool
    else { return nil }
    (self.pending, self.inFlight, self.waiting, self.held) = (pending, inFlight, waiting, held)
    (self.delivered, self.dead, self.bytes, self.isPaused) = (delivered, dead, bytes, isPaused)
    var reader = MemberReader(json)
    oldestPendingAt = reader.optional("oldestPendingAt", \.timestamp)
    pausedReason = reader.optional("pausedReason", \.string)
    guard reader.isUnderstood else { return nil }
  }
}

extension OutboxPage: TimelessWireValue {
  package var json: JSON { ["items": .array(items.map(\.json)), "cursor": JSON(cursor)] }

  package init?(json: JSON) {
    guard let items: [OutboxItem] = json["items"]?.values() else { return nil }
    self.init(items: items, cursor: json["cursor"]?.string)
  }
}
