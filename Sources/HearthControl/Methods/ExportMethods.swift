package import HearthCore

/// Each page is one moment: what is delivered, made or changed between two pages may be missing or stand there twice.
package struct ExportItems: ControlMethod {
  package static let declaration = MethodDeclaration<ExportPage>(
    "outbox.export", "Give items that are not delivered with all that is in them, oldest first.",
    errors: [.unknownAccount, .storageUnavailable])
  package static let parameters = Fields<ExportItems>(.all(\.query, OutboxQuery.fields), make: Self.init)

  package let query: OutboxQuery
  package init(_ query: OutboxQuery) { self.query = query }
}

extension ExportPage: TimelessWireValue {
  package static let fields = Fields<ExportPage>(
    .required("items", \.items, .array(ExportedItem.fields)), .required("damaged", \.damaged, .int),
    .optional("cursor", \.cursor, .text), make: ExportPage.init)
}

/// Each item keeps its user: what is another's is held until that one signs in. An item that is there already, by its id
/// or by its idempotency key, is not kept twice.
package struct ImportItems: ControlMethod {
  package static let declaration = MethodDeclaration<ImportReceipt>(
    "outbox.import", "Keep items that were exported, all or none.", errors: Enqueue.errors)
  package static let parameters = Fields<ImportItems>(
    .required("items", \.items, .array(ExportedItem.fields)),
    .optional("dryRun", \.isDryRun, .bool, omitting: false), make: Self.init)

  package let items: [ExportedItem]
  /// Nothing is kept: only whether it would be is told.
  package let isDryRun: Bool

  package init(_ items: [ExportedItem], isDryRun: Bool = false) {
    (self.items, self.isDryRun) = (items, isDryRun)
  }
}

/// What came of the items of a call, in its order.
package struct ImportReceipt: TimelessWireValue {
  package static let fields = Fields<ImportReceipt>(
    .required("items", \.items, .array(EnqueueReceipt.fields)), make: Self.init)

  package let items: [EnqueueReceipt]

  package init(items: [EnqueueReceipt]) { self.items = items }
}

extension ExportedItem: TimelessWireValue {
  package static let fields = Fields<ExportedItem>(
    .required("id", \.id, .text), .omittable("issuer", \.issuer, .text),
    .omittable("subject", \.subjectID, .text), .all(\.draft, OutboxDraft.fields),
    .required("state", \.state, .choice), .omittable("reason", \.reason, .choice),
    .required("attempts", \.attempts, .int(in: 0...ExportedItem.mostAttempts)),
    .required("createdAt", \.createdAt, .time), .omittable("nextAttemptAt", \.nextAttemptAt, .time),
    .omittable("unknownSince", \.unknownSince, .time),
    .omittable("lastStatus", \.lastStatus, .int), .omittable("lastError", \.lastError, .text),
    .required("exportedAt", \.exportedAt, .time), make: Self.make)

  private var issuer: String? { subject?.named?.issuer }
  private var subjectID: String? { subject?.named?.id }

  private static func make(
    id: String, issuer: String?, subject: String?, draft: OutboxDraft, state: OutboxItem.State,
    reason: OutboxItem.Reason?, attempts: Int, createdAt: Timestamp, nextAttemptAt: Timestamp?,
    unknownSince: Timestamp?, lastStatus: Int?,
    lastError: String?, exportedAt: Timestamp
  ) throws(RPCError) -> ExportedItem? {
    guard (issuer == nil) == (subject == nil) else {
      throw .invalidParams("An item has both \"issuer\" and \"subject\", or neither of them.")
    }
    let user = subject.flatMap { subject in issuer.map { Subject(issuer: $0, id: subject) } }
    return ExportedItem(
      id: id, subject: user, draft: draft, state: state, reason: reason, attempts: attempts, createdAt: createdAt,
      nextAttemptAt: nextAttemptAt,
      unknownSince: unknownSince, lastStatus: lastStatus, lastError: lastError, exportedAt: exportedAt)
  }
}

extension String {
  /// Whether little of it is longer in JSON than it is itself, so that a body is no larger than one in Base64.
  var isPlain: Bool {
    utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }
}
