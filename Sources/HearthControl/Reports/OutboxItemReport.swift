/// An outbox item as clients see it. Times are RFC 3339 in UTC. Neither its headers nor its body are told.
package struct OutboxItemReport: Hashable, Sendable {
  package var id: String
  package var account: String
  package var subject: String?
  /// Nil: unordered, of no lane.
  package var lane: String?
  package var method: String
  package var url: String
  package var state: String
  package var reason: String?
  package var attempts: Int
  package var createdAt: String
  package var nextAttemptAt: String?
  package var lastStatus: Int?
  package var lastError: String?
  package var idempotencyKey: String?
  package var bytes: Int

  package init(
    id: String, account: String, subject: String?, lane: String?, method: String, url: String, state: String,
    reason: String?, attempts: Int, createdAt: String, nextAttemptAt: String?, lastStatus: Int?, lastError: String?,
    idempotencyKey: String?, bytes: Int
  ) {
    self.id = id
    self.account = account
    self.subject = subject
    self.lane = lane
    self.method = method
    self.url = url
    self.state = state
    self.reason = reason
    self.attempts = attempts
    self.createdAt = createdAt
    self.nextAttemptAt = nextAttemptAt
    self.lastStatus = lastStatus
    self.lastError = lastError
    self.idempotencyKey = idempotencyKey
    self.bytes = bytes
  }

  package var json: JSON {
    [
      "id": .string(id), "account": .string(account), "subject": JSON(subject), "lane": JSON(lane),
      "method": .string(method), "url": .string(url), "state": .string(state), "reason": JSON(reason),
      "attempts": JSON(attempts), "createdAt": .string(createdAt), "nextAttemptAt": JSON(nextAttemptAt),
      "lastStatus": JSON(lastStatus), "lastError": JSON(lastError), "idempotencyKey": JSON(idempotencyKey),
      "bytes": JSON(bytes),
    ]
  }

  /// Nil where a field is missing that is never null. Fields of later versions are passed over.
  package init?(json: JSON) {
    guard let id = json["id"]?.string, let account = json["account"]?.string, let method = json["method"]?.string,
      let url = json["url"]?.string, let state = json["state"]?.string, let attempts = json["attempts"]?.int,
      let createdAt = json["createdAt"]?.string, let bytes = json["bytes"]?.int
    else { return nil }
    self.init(
      id: id, account: account, subject: json["subject"]?.string, lane: json["lane"]?.string, method: method,
      url: url, state: state, reason: json["reason"]?.string, attempts: attempts, createdAt: createdAt,
      nextAttemptAt: json["nextAttemptAt"]?.string, lastStatus: json["lastStatus"]?.int,
      lastError: json["lastError"]?.string, idempotencyKey: json["idempotencyKey"]?.string, bytes: bytes)
  }
}
