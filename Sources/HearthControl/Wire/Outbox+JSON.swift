package import HearthCore

/// An outbox item as clients see it (contract, section 6). Its headers and its body are not shown.
extension OutboxItem: TimelessWireValue {
  package static let fields = Fields<OutboxItem>(
    .required("id", \.id, .text), .required("account", \.account, .account),
    .optional("subject", \.namedSubject, .subject), .optional("lane", \.lane, .name),
    .required("method", \.method, .text), .required("url", \.url, .text), .required("state", \.state, .choice),
    .optional("reason", \.reason, .choice), .required("attempts", \.attempts, .int),
    .required("createdAt", \.createdAt, .time), .optional("nextAttemptAt", \.nextAttemptAt, .time),
    .optional("lastStatus", \.lastStatus, .int), .optional("lastError", \.lastError, .text),
    .required("idempotencyKey", \.idempotencyKey, .text), .required("bytes", \.bytes, .int),
    make: OutboxItem.init)
}

extension OutboxItem {
  fileprivate var namedSubject: Subject? { subject?.named }
}

extension WireType<Subject> {
  /// The wire names no issuer here.
  fileprivate static var subject: WireType {
    WireType<String>.text.mapped(
      "", to: { Subject(issuer: "", id: $0, isIssuerAssumed: true) }, from: \.id)
  }
}

/// Counts of the outbox, of one account or of all.
extension OutboxStats: TimelessWireValue {
  package static let fields = Fields<OutboxStats>(
    .required("pending", \.pending, .int), .required("inFlight", \.inFlight, .int),
    .required("waiting", \.waiting, .int), .required("held", \.held, .int),
    .required("delivered", \.delivered, .int), .required("dead", \.dead, .int), .required("bytes", \.bytes, .int),
    .optional("oldestPendingAt", \.oldestPendingAt, .time), .required("paused", \.isPaused, .bool),
    .optional("pausedReason", \.pausedReason, .text), .omittable("error", \.trouble, .text)
  ) { pending, inFlight, waiting, held, delivered, dead, bytes, oldest, isPaused, reason, trouble in
    var stats = OutboxStats()
    (stats.pending, stats.inFlight, stats.waiting, stats.held) = (pending, inFlight, waiting, held)
    (stats.delivered, stats.dead, stats.bytes) = (delivered, dead, bytes)
    (stats.oldestPendingAt, stats.isPaused, stats.pausedReason) = (oldest, isPaused, reason)
    stats.trouble = trouble
    return stats
  }
}

extension OutboxPage: TimelessWireValue {
  package static let fields = Fields<OutboxPage>(
    .required("items", \.items, .array(OutboxItem.fields)), .optional("cursor", \.cursor, .text),
    make: OutboxPage.init)
}
