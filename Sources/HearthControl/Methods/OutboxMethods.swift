package import HearthCore

/// Answered only once the item is on disk; taken in every session state.
package struct Enqueue: ControlMethod {
  package static let declaration = MethodDeclaration<EnqueueReceipt>(
    "outbox.enqueue", "Queue a request.",
    errors: [.unknownAccount, .originNotAllowed, .outboxFull, .idempotencyConflict, .storageUnavailable])

  package let draft: OutboxDraft
  package init(_ draft: OutboxDraft) { self.draft = draft }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    draft = try OutboxDraft(reading: &params)
  }

  package var params: JSONObject { draft.params }
}

package struct EnqueueReceipt: TimelessWireValue {
  package let id: String
  package let state: OutboxItem.State
  /// The same key and content were queued before: this is that item.
  package let isDuplicate: Bool

  package init(id: String, state: OutboxItem.State, isDuplicate: Bool) {
    self.id = id
    self.state = state
    self.isDuplicate = isDuplicate
  }

  package var json: JSON {
    ["id": .string(id), "state": .string(state.rawValue), "duplicate": .bool(isDuplicate)]
  }

  package init?(json: JSON) {
    guard let id = json["id"]?.string, let state = json["state"]?.string.flatMap({ OutboxItem.State(rawValue: $0) }),
      let isDuplicate = json["duplicate"]?.bool
    else { return nil }
    self.init(id: id, state: state, isDuplicate: isDuplicate)
  }
}

package struct EnqueueMany: ControlMethod {
  package static let declaration = MethodDeclaration<EnqueuedItems>(
    "outbox.enqueueMany", "Queue several requests, all or none.", errors: Enqueue.errors)

  package let drafts: [OutboxDraft]
  package init(_ drafts: [OutboxDraft]) { self.drafts = drafts }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let readers = try params.readers("items")
    try params.finish()
    var drafts: [OutboxDraft] = []
    for var reader in readers { drafts.append(try OutboxDraft(reading: &reader)) }
    self.init(drafts)
  }

  package var params: JSONObject { ["items": .array(drafts.map { .object($0.params) })] }
}

/// The items of a call that queued several, in its order.
package struct EnqueuedItems: TimelessWireValue {
  package let ids: [String]

  package init(ids: [String]) { self.ids = ids }

  package var json: JSON { ["ids": .array(ids.map(JSON.string))] }

  package init?(json: JSON) {
    guard let ids = json["ids"]?.array else { return nil }
    self.init(ids: ids.compactMap(\.string))
    guard self.ids.count == ids.count else { return nil }
  }
}

extension OutboxDraft {
  fileprivate init(reading params: inout ParameterReader) throws(RPCError) {
    let account = try params.string("account")
    let method = try params.string("method")
    let url = try params.string("url")
    let headers = try params.headers().map { APIRequest.Header(name: $0.name, value: $0.value) }
    let body = try params.body() ?? []
    let lane = try params.optionalString("lane")
    let isUnordered = try params.bool("unordered", default: false)
    let idempotencyKey = try params.optionalString("idempotencyKey")
    let replaceKey = try params.optionalString("replaceKey")
    let notBefore = try params.optionalTime("notBefore")
    let expiresAt = try params.optionalTime("expiresAt")
    try params.finish()
    self.init(
      account: try AccountName(asked: account), method: method, url: url, headers: headers, body: body,
      lane: lane ?? Self.defaultLane, isUnordered: isUnordered, idempotencyKey: idempotencyKey,
      replaceKey: replaceKey, notBefore: notBefore, expiresAt: expiresAt)
  }

  private static let defaultLane = "default"

  /// Text goes as it is, other bytes as Base64; a header that comes more than once is an array.
  fileprivate var params: JSONObject {
    var fields = JSONObject()
    for header in headers {
      let value = JSON.string(header.value)
      switch fields[header.name] {
      case nil: fields[header.name] = value
      case .array(let values): fields[header.name] = .array(values + [value])
      case let first?: fields[header.name] = [first, value]
      }
    }
    let text = String(validating: body, as: UTF8.self)
    return JSON.members([
      "account": .string(account.description), "method": .string(method), "url": .string(url),
      "headers": fields.isEmpty ? nil : .object(fields), "body": body.isEmpty ? nil : text.map(JSON.string),
      "bodyBase64": text == nil ? .string(Base64.encode(body)) : nil,
      "lane": lane == Self.defaultLane ? nil : .string(lane), "unordered": isUnordered ? true : nil,
      "idempotencyKey": idempotencyKey.map(JSON.string), "replaceKey": replaceKey.map(JSON.string),
      "notBefore": notBefore.map { JSON($0) }, "expiresAt": expiresAt.map { JSON($0) },
    ])
  }
}

package struct GetItem: TextMethod {
  package static let declaration = MethodDeclaration<OutboxItem>(
    "outbox.get", "Say all that is known of an item.", errors: [.unknownItem, .storageUnavailable])
  package static let parameter = "id"

  package let text: String
  package init(_ text: String) { self.text = text }
}

package struct ListItems: ControlMethod {
  package static let declaration = MethodDeclaration<OutboxPage>(
    "outbox.list", "List items, oldest first.", errors: [.unknownAccount, .storageUnavailable])

  package let query: OutboxQuery
  package init(_ query: OutboxQuery) { self.query = query }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    var query = OutboxQuery()
    let account = try params.optionalString("account")
    query.state = try params.optionalChoice("state", of: OutboxItem.State.self)
    query.lane = try params.optionalString("lane")
    query.limit = try params.optionalInt("limit", in: 1...1000) ?? Self.defaultLimit
    query.cursor = try params.optionalString("cursor")
    try params.finish()
    query.account = try AccountName.asked(account)
    self.init(query)
  }

  private static let defaultLimit = 100

  package var params: JSONObject {
    JSON.members([
      "account": query.account.map { .string($0.description) }, "state": query.state.map { .string($0.rawValue) },
      "lane": query.lane.map(JSON.string), "limit": query.limit == Self.defaultLimit ? nil : JSON(query.limit),
      "cursor": query.cursor.map(JSON.string),
    ])
  }
}

/// One item, or all dead ones of an account.
package enum ItemChoice: Hashable, Sendable {
  case item(String)
  case allDead(AccountName)
}

/// The states of which all items of an account can be changed at once.
private enum ChangeableState: String, CaseIterable {
  case dead
}

/// A method that changes the items that are chosen, and tells how many they were.
package protocol ItemChangeMethod: ControlMethod where Result == ItemCount {
  var choice: ItemChoice { get }
  init(_ choice: ItemChoice)
}

extension ItemChangeMethod {
  fileprivate static func declared(_ name: String, _ summary: String) -> MethodDeclaration<ItemCount> {
    MethodDeclaration(
      name, summary, errors: [.unknownAccount, .unknownItem, .invalidItemState, .storageUnavailable])
  }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let id = try params.optionalString("id")
    let account = try params.optionalString("account")
    let state = try params.optionalChoice("state", of: ChangeableState.self)
    try params.finish()
    switch (id, account, state) {
    case (let id?, nil, nil): self.init(.item(id))
    case (nil, let account?, .dead): self.init(.allDead(try AccountName(asked: account)))
    case (.some, .some, _), (.some, _, .some), (nil, nil, _), (nil, _, nil):
      throw .invalidParams("Give either \"id\", or \"account\" and \"state\":\"dead\".")
    }
  }

  package var params: JSONObject {
    switch choice {
    case .item(let id): ["id": .string(id)]
    case .allDead(let account): ["account": .string(account.description), "state": "dead"]
    }
  }
}

package struct ItemCount: TimelessWireValue {
  package let count: Int
  package init(_ count: Int) { self.count = count }

  package var json: JSON { ["count": JSON(count)] }

  package init?(json: JSON) {
    guard let count = json["count"]?.int else { return nil }
    self.init(count)
  }
}

package struct CancelItems: ItemChangeMethod {
  package static let declaration = declared("outbox.cancel", "Take items out, unsent.")
  package let choice: ItemChoice
  package init(_ choice: ItemChoice) { self.choice = choice }
}

package struct RetryItems: ItemChangeMethod {
  package static let declaration = declared("outbox.retry", "Put dead or held items back, at the end of their lane.")
  package let choice: ItemChoice
  package init(_ choice: ItemChoice) { self.choice = choice }
}

package struct PauseOutbox: AccountsMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "outbox.pause", "Send nothing until \"resume\", restarts and sign-ins included.",
    errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

package struct ResumeOutbox: AccountsMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "outbox.resume", "Send again.", errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}

/// Answered once nothing is left that could be sent, or the time is up.
package struct FlushOutbox: ControlMethod {
  package static let declaration = MethodDeclaration<OutboxStats>(
    "outbox.flush", "Try what waits now, and wait until nothing is left that could be sent.",
    errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  /// In whole seconds, up to an hour.
  package let timeout: Duration

  package init(_ account: AccountName?, timeout: Duration = .seconds(30)) {
    self.account = account
    self.timeout = timeout
  }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let account = try params.optionalString("account")
    let seconds = try params.optionalInt("timeoutSeconds", in: 0...3600) ?? 30
    try params.finish()
    self.init(
      try AccountName.asked(account), timeout: .seconds(seconds))
  }

  package var params: JSONObject {
    JSON.members(["account": account.map { .string($0.description) }, "timeoutSeconds": JSON(seconds: timeout)])
  }
}

package struct GetOutboxStats: AccountsMethod {
  package static let declaration = MethodDeclaration<OutboxStats>(
    "outbox.getStats", "Count the items.", errors: [.unknownAccount, .storageUnavailable])

  package let account: AccountName?
  package init(_ account: AccountName?) { self.account = account }
}
