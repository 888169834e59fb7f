package import HearthCore

/// Queues a request. Works in every session state. The daemon answers once the item is on disk.
package struct Enqueue: ControlMethod {
  package static let declaration = MethodDeclaration<EnqueueReceipt>(
    "outbox.enqueue", "Queue a request.",
    errors: [.unknownAccount, .originNotAllowed, .outboxFull, .idempotencyConflict, .storageUnavailable])
  package static let parameters = Fields<Enqueue>(.all(\.draft, OutboxDraft.fields), make: Self.init)

  package let draft: OutboxDraft
  package init(_ draft: OutboxDraft) { self.draft = draft }
}

package struct EnqueueReceipt: TimelessWireValue {
  package static let fields = Fields<EnqueueReceipt>(
    .required("id", \.id, .text), .required("state", \.state, .choice), .required("duplicate", \.isDuplicate, .bool),
    make: Self.init)

  package let id: String
  package let state: OutboxItem.State
  /// Whether the item was not added, because the outbox already contains the same content with the same idempotency key
  /// or, in an import, the same id or a later item with the same `replaceKey`. If so, `id` refers to the existing item.
  package let isDuplicate: Bool

  package init(id: String, state: OutboxItem.State, isDuplicate: Bool) {
    (self.id, self.state, self.isDuplicate) = (id, state, isDuplicate)
  }
}

package struct EnqueueMany: ControlMethod {
  package static let declaration = MethodDeclaration<EnqueuedItems>(
    "outbox.enqueueMany", "Queue several requests atomically.", errors: Enqueue.errors)
  package static let parameters = Fields<EnqueueMany>(
    .required("items", \.drafts, .array(OutboxDraft.fields)), make: Self.init)

  package let drafts: [OutboxDraft]
  package init(_ drafts: [OutboxDraft]) { self.drafts = drafts }
}

/// The result for each item of the call, in order.
package struct EnqueuedItems: TimelessWireValue {
  package static let fields = Fields<EnqueuedItems>(
    .required("ids", \.ids, .texts), .required("duplicates", \.duplicates, .bools), make: Self.init)

  package let ids: [String]
  /// Whether each item already existed (`EnqueueReceipt.isDuplicate`).
  package let duplicates: [Bool]

  package init(ids: [String], duplicates: [Bool]) { (self.ids, self.duplicates) = (ids, duplicates) }
}

extension OutboxDraft {
  static let fields = Fields<OutboxDraft>(
    .required("account", \.account, .account), .required("method", \.method, .text), .required("url", \.url, .text),
    .optional("headers", \.headers, .headers, omitting: []), .body(\.body, isText: \.isPlain),
    .optional("lane", \.lane, .name, omitting: Name("default")), .unordered(\.isUnordered),
    .optional("idempotencyKey", \.idempotencyKey, .text), .optional("replaceKey", \.replaceKey, .name),
    .optional("notBefore", \.notBefore, .time), .optional("expiresAt", \.expiresAt, .time),
    .optional("expect", \.expect, .choice), make: OutboxDraft.init)
}

extension Field<OutboxDraft, Bool> {
  /// Returns the field `unordered`, which must not be true if `lane` is present.
  fileprivate static func unordered(_ get: @escaping @Sendable (OutboxDraft) -> Bool) -> Field {
    let field = optional("unordered", get, .bool, omitting: false)
    return Field(
      names: field.names, schemas: field.schemas,
      read: { reader in
        let isUnordered = try field.read(&reader)
        if isUnordered, reader.isGiven("lane") {
          reader.refuse(
            "unordered", "cannot be true if \"lane\" is given, because an unordered item has no lane",
            .meaning)
        }
        return isUnordered
      }, write: field.write)
  }
}

package struct GetItem: TextMethod {
  package static let declaration = MethodDeclaration<OutboxItem>(
    "outbox.get", "Show an item's details, without its headers and body.", isReadOnly: true,
    errors: [.unknownItem, .storageUnavailable])
  package static let parameter = "id"

  package let text: String
  package init(_ text: String) { self.text = text }
}

package struct ListItems: ControlMethod {
  package static let declaration = MethodDeclaration<OutboxPage>(
    "outbox.list", "List items, oldest first.", isReadOnly: true, errors: [.unknownAccount, .storageUnavailable])
  package static let parameters = Fields<ListItems>(.all(\.query, OutboxQuery.fields), make: Self.init)

  package let query: OutboxQuery
  package init(_ query: OutboxQuery) { self.query = query }
}

extension OutboxQuery {
  static let fields = Fields<OutboxQuery>(
    .optional("account", \.account, .account), .optional("state", \.state, .choice), .optional("lane", \.lane, .name),
    .optional("limit", \.limit, .int(in: 1...1000), omitting: 100), .optional("cursor", \.cursor, .text),
    make: OutboxQuery.init)
}

package enum ItemChoice: Hashable, Sendable {
  case item(String)
  case all(AccountName, in: ChangeableState)

  fileprivate var id: String? { if case .item(let id) = self { id } else { nil } }

  fileprivate var account: AccountName? { if case .all(let account, _) = self { account } else { nil } }

  fileprivate var state: ChangeableState? { if case .all(_, let state) = self { state } else { nil } }
}

/// The states whose items a method can change for a whole account.
package enum ChangeableState: String, CaseIterable, Sendable {
  case dead, held

  package var state: OutboxItem.State { self == .dead ? .dead : .held }
}

/// A method that changes the chosen items and returns the number of changed items.
package protocol ItemChangeMethod: ControlMethod where Result == ItemCount {
  var choice: ItemChoice { get }
  init(_ choice: ItemChoice)
}

extension ItemChangeMethod {
  fileprivate static func declared(_ name: String, _ summary: String) -> MethodDeclaration<ItemCount> {
    MethodDeclaration(
      name, summary, errors: [.unknownAccount, .unknownItem, .invalidItemState, .storageUnavailable])
  }

  package static var parameters: Fields<Self> {
    Fields(
      .optional("id", \.choice.id, .text), .optional("account", \.choice.account, .account),
      .optional("state", \.choice.state, .choice)
    ) { (id, account, state) throws(RPCError) in
      switch (id, account, state) {
      case (let id?, nil, nil): Self(.item(id))
      case (nil, let account?, let state?): Self(.all(account, in: state))
      case (.some, .some, _), (.some, _, .some), (nil, nil, _), (nil, _, nil):
        throw .invalidParams("Give either \"id\", or \"account\" and \"state\" (\"dead\" or \"held\").")
      }
    }
  }
}

package struct ItemCount: TimelessWireValue {
  package static let fields = Fields<ItemCount>(.required("count", \.count, .int), make: Self.init)

  package let count: Int
  package init(_ count: Int) { self.count = count }
}

package struct CancelItems: ItemChangeMethod {
  package static let declaration = declared("outbox.cancel", "Cancel items, so that Hearth does not send them.")
  package let choice: ItemChoice
  package init(_ choice: ItemChoice) { self.choice = choice }
}

package struct RetryItems: ItemChangeMethod {
  package static let declaration = declared(
    "outbox.retry", "Queue dead or held items again. An item that has left its lane is added to the end of the lane.")
  package let choice: ItemChoice
  package init(_ choice: ItemChoice) { self.choice = choice }
}

package struct PauseOutbox: AccountsMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "outbox.pause", "Pause the outbox until you resume it, even across restarts and sign-ins.",
    errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

package struct ResumeOutbox: AccountsMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "outbox.resume", "Resume an outbox that you paused.", errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

/// Tries to send waiting items immediately, except those whose `notBefore` is in the future. Returns once nothing more
/// can be sent at the moment or the timeout has passed. Does not wait for paused outboxes.
package struct FlushOutbox: ControlMethod {
  package static let declaration = MethodDeclaration<OutboxStats>(
    "outbox.flush", "Try to send waiting items now, and return once nothing more can be sent or the time is up.",
    errors: [.unknownAccount, .storageUnavailable])
  package static let parameters = Fields<FlushOutbox>(
    .optional("account", \.account, .account),
    .optional("timeoutSeconds", \.timeout, .seconds(in: 0...3600), default: .seconds(30)), make: Self.init)

  package let account: AccountName?
  /// The timeout in whole seconds, up to an hour.
  package let timeout: Duration

  package init(_ account: AccountName?, timeout: Duration = .seconds(30)) {
    (self.account, self.timeout) = (account, timeout)
  }
}

package struct GetOutboxStats: AccountsMethod {
  package static let declaration = MethodDeclaration<OutboxStats>(
    "outbox.getStats", "Show the outbox's item counts, its size, and whether it is paused.",
    isReadOnly: true, errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

/// An outbox item as clients see it, without headers and body.
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
  /// The subject's id, without the issuer.
  fileprivate static var subject: WireType {
    WireType<String>.text.mapped(
      "", to: { Subject(issuer: "", id: $0, isIssuerAssumed: true) }, from: \.id)
  }
}

/// The outbox counts of one account or of all accounts.
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
