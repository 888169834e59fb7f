package import HearthCore

/// Exports items, one page per call. Each page is a consistent snapshot, but an item that changes between two calls may
/// be missing from the export or appear twice.
package struct ExportItems: ControlMethod {
  package static let declaration = MethodDeclaration<ExportPage>(
    "outbox.export", "Return undelivered items with their full content, oldest first.",
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

/// Imports exported items. An item still belongs to its original user and is held while a different user is signed in.
/// Skips an item if the outbox already contains it (the same id, or the same idempotency key and content) or contains a
/// later item with the same `replaceKey`.
package struct ImportItems: ControlMethod {
  package static let declaration = MethodDeclaration<ImportReceipt>(
    "outbox.import", "Queue exported items atomically.", errors: Enqueue.errors)
  package static let parameters = Fields<ImportItems>(
    .required("items", \.items, .array(ExportedItem.fields)),
    .optional("dryRun", \.isDryRun, .bool, omitting: false),
    .optional("itemsBefore", \.itemsBefore, .count, omitting: 0),
    .optional("bytesBefore", \.bytesBefore, .count, omitting: 0), make: Self.init)

  package let items: [ExportedItem]
  /// Whether to store nothing and only report what would be stored.
  package let isDryRun: Bool
  /// The number of items that earlier calls of this dry run would have stored. They count towards the outbox's limits.
  /// `bytesBefore` is their size.
  package let itemsBefore: Int
  package let bytesBefore: Int

  package init(_ items: [ExportedItem], isDryRun: Bool = false, itemsBefore: Int = 0, bytesBefore: Int = 0) {
    (self.items, self.isDryRun) = (items, isDryRun)
    (self.itemsBefore, self.bytesBefore) = (itemsBefore, bytesBefore)
  }
}

/// The result for each item of an import, in order.
package struct ImportReceipt: TimelessWireValue {
  package static let fields = Fields<ImportReceipt>(
    .required("items", \.items, .array(EnqueueReceipt.fields)), .required("bytes", \.bytes, .int), make: Self.init)

  package let items: [EnqueueReceipt]
  /// The size of the new items, in bytes.
  package let bytes: Int

  package init(items: [EnqueueReceipt], bytes: Int) { (self.items, self.bytes) = (items, bytes) }
}

extension ExportedItem: TimelessWireValue {
  package static let fields = Fields<ExportedItem>(
    .required("id", \.id, .text), .omittable("issuer", \.issuer, .text),
    .omittable("subject", \.subjectID, .text), .all(\.draft, OutboxDraft.fields),
    .required("state", \.state, .choice), .omittable("reason", \.reason, .choice),
    .required("attempts", \.attempts, .int(in: 0...ExportedItem.mostAttempts)),
    .required("createdAt", \.createdAt, .time), .omittable("nextAttemptAt", \.nextAttemptAt, .time),
    .omittable("unknownSince", \.unknownSince, .time),
    .omittable("sent", \.sent, .bool),
    .omittable("lastStatus", \.lastStatus, .int), .omittable("lastError", \.lastError, .text),
    .required("exportedAt", \.exportedAt, .time), make: Self.make)

  private var sent: Bool? { mayHaveLeft ? true : nil }
  private var issuer: String? { subject?.named?.issuer }
  private var subjectID: String? { subject?.named?.id }

  private static func make(
    id: String, issuer: String?, subject: String?, draft: OutboxDraft, state: OutboxItem.State,
    reason: OutboxItem.Reason?, attempts: Int, createdAt: Timestamp, nextAttemptAt: Timestamp?,
    unknownSince: Timestamp?, sent: Bool?, lastStatus: Int?, lastError: String?, exportedAt: Timestamp
  ) throws(RPCError) -> ExportedItem? {
    guard (issuer == nil) == (subject == nil) else {
      throw .invalidParams("An item must have both \"issuer\" and \"subject\" or neither.")
    }
    let user = subject.flatMap { subject in issuer.map { Subject(issuer: $0, id: subject) } }
    return ExportedItem(
      id: id, subject: user, draft: draft, state: state, reason: reason, attempts: attempts, createdAt: createdAt,
      nextAttemptAt: nextAttemptAt,
      unknownSince: unknownSince, mayHaveLeft: sent ?? false, lastStatus: lastStatus, lastError: lastError,
      exportedAt: exportedAt)
  }
}

extension String {
  /// Whether the text contains no characters below U+0020 other than tabs and line breaks. The others need up to six
  /// bytes each in JSON, so a body that contains any is sent as Base64.
  var isPlain: Bool {
    utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }
}
