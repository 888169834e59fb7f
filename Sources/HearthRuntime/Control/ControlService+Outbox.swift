import HearthControl
import HearthCore

/// The `outbox.*` methods.
extension ControlService {
  func enqueue(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let draft = try await draft(&params)
    let receipt = try await asked(of: draft.account) { () async throws(OutboxError) in
      try await outbox.enqueue(draft)
    }
    return [
      "id": .string(receipt.item.id), "state": .string(receipt.item.state.rawValue),
      "duplicate": .bool(receipt.isDuplicate),
    ]
  }

  func enqueueMany(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let readers = try params.readers("items")
    try params.finish()
    var drafts: [OutboxDraft] = []
    for var reader in readers { drafts.append(try await draft(&reader)) }
    let items = drafts
    do throws(OutboxError) {
      let receipts = try await outbox.enqueueMany(items)
      return ["ids": .array(receipts.map { .string($0.item.id) })]
    } catch .item(let place, let reason) {
      throw RPCError(reason, account: items[place].account, place: "items[\(place)]")
    } catch {
      let account = items.first?.account
      throw RPCError(error, account: items.allSatisfy { $0.account == account } ? account : nil)
    }
  }

  private func draft(_ params: inout ParameterReader) async throws(RPCError) -> OutboxDraft {
    let name = try params.string("account")
    let method = try params.string("method")
    let url = try params.string("url")
    let headers = try params.headers().map { APIRequest.Header(name: $0.name, value: $0.value) }
    let body = try params.body() ?? []
    let lane = try params.optionalString("lane")
    let isUnordered = try params.bool("unordered", default: false)
    let idempotencyKey = try params.optionalString("idempotencyKey")
    let replaceKey = try params.optionalString("replaceKey")
    let notBefore = try time("notBefore", &params)
    let expiresAt = try time("expiresAt", &params)
    try params.finish()
    let (account, _) = try await entry(name)
    return OutboxDraft(
      account: account, method: method, url: url, headers: headers, body: body, lane: lane ?? "default",
      isUnordered: isUnordered, idempotencyKey: idempotencyKey, replaceKey: replaceKey, notBefore: notBefore,
      expiresAt: expiresAt)
  }

  private func time(_ name: String, _ params: inout ParameterReader) throws(RPCError) -> Timestamp? {
    guard let text = try params.optionalString(name) else { return nil }
    guard let time = Timestamp(rfc3339: text) else {
      throw .invalidParams("The parameter \"\(name)\" must be a time of RFC 3339, such as 2026-11-21T10:00:00Z.")
    }
    return time
  }

  func getItem(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let id = try params.string("id")
    try params.finish()
    return try await asked(item: id) { () async throws(OutboxError) in try await outbox.get(id) }.report.json
  }

  func listItems(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    var query = OutboxQuery()
    let name = try params.optionalString("account")
    query.state = try params.optionalChoice("state", of: OutboxItem.State.self)
    query.lane = try params.optionalString("lane")
    query.limit = try params.optionalInt("limit", in: 1...1000) ?? 100
    query.cursor = try params.optionalString("cursor")
    try params.finish()
    if let name { query.account = try await entry(name).0 }
    let wanted = query
    let page = try await asked(of: query.account) { () async throws(OutboxError) in try await outbox.list(wanted) }
    return ["items": .array(page.items.map(\.report.json)), "cursor": JSON(page.cursor)]
  }

  /// `outbox.cancel` and `outbox.retry`: one item, or all dead ones of an account.
  func change(_ params: inout ParameterReader, _ change: OutboxChange) async throws(RPCError) -> JSON {
    enum Finished: String, CaseIterable { case dead }
    let id = try params.optionalString("id")
    let name = try params.optionalString("account")
    let state = try params.optionalChoice("state", of: Finished.self)
    try params.finish()
    let count: Int
    switch (id, name, state) {
    case (let id?, nil, nil):
      count = try await asked(item: id) { () async throws(OutboxError) in
        switch change {
        case .cancel: try await outbox.cancel(id)
        case .retry: try await outbox.retry(id)
        }
      }
    case (nil, let name?, .dead):
      let (account, _) = try await entry(name)
      count = try await asked(of: account) { () async throws(OutboxError) in
        switch change {
        case .cancel: try await outbox.cancelAll(account, in: .dead)
        case .retry: try await outbox.retryAll(account, in: .dead)
        }
      }
    case (.some, .some, _), (.some, _, .some), (nil, nil, _), (nil, _, nil):
      throw .invalidParams("Give either \"id\", or \"account\" and \"state\":\"dead\".")
    }
    return ["count": JSON(count)]
  }

  func setPaused(_ params: inout ParameterReader, _ isPaused: Bool) async throws(RPCError) -> JSON {
    let account = try await optionalAccount(&params)
    try params.finish()
    try await asked(of: account) { () async throws(OutboxError) in
      if isPaused { try await outbox.pause(account) } else { try await outbox.resume(account) }
    }
    return [:]
  }

  func flush(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let account = try await optionalAccount(&params)
    let seconds = try params.optionalInt("timeoutSeconds", in: 0...3600) ?? 30
    try params.finish()
    return try await asked(of: account) { () async throws(OutboxError) in
      try await outbox.flush(account, timeout: .seconds(seconds))
    }.report.json
  }

  func getStats(_ params: inout ParameterReader) async throws(RPCError) -> JSON {
    let account = try await optionalAccount(&params)
    try params.finish()
    return try await stats(of: account).json
  }

  func stats(of account: AccountName?) async throws(RPCError) -> OutboxStatsReport {
    try await asked(of: account) { () async throws(OutboxError) in try await outbox.getStats(account) }.report
  }

  func discardOutbox(of account: AccountName) async throws(RPCError) {
    _ = try await asked(of: account) { () async throws(OutboxError) in try await outbox.purge(account) }
  }

  private func optionalAccount(_ params: inout ParameterReader) async throws(RPCError) -> AccountName? {
    guard let name = try params.optionalString("account") else { return nil }
    return try await entry(name).0
  }

  private func asked<Value>(
    of account: AccountName? = nil, item: String = "", _ call: () async throws(OutboxError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(OutboxError) {
      return try await call()
    } catch {
      throw RPCError(error, account: account, item: item)
    }
  }
}

extension RPCError {
  /// `place`: of an item among several.
  fileprivate init(_ error: OutboxError, account: AccountName?, item: String = "", place: String? = nil) {
    let name = account?.description ?? ""
    let prefix = place.map { $0 + ": " } ?? ""
    switch error {
    case .item(_, let reason): self.init(reason, account: account, item: item, place: place)
    case .invalidRequest(let flaw): self = .invalidParams("The parameter \(place.map { $0 + "." } ?? "")\(flaw).")
    case .unknownAccount(let account): self = .unknownAccount(account.description)
    case .originNotAllowed(let origin):
      self = .originNotAllowed(
        account: name,
        message: "\(prefix)\(origin) is none of the api_origins of \(name); the token goes nowhere else.")
    case .full: self = .outboxFull(account: account?.description, message: "The outbox is full; nothing was accepted.")
    case .unknownItem: self = .unknownItem(item)
    case .invalidState(let state):
      self = .invalidItemState(account: account?.description, message: "The item is \(state.rawValue).")
    case .keyConflict:
      self = .idempotencyConflict(
        account: name, message: "\(prefix)The idempotency key stands for an item with another content.")
    case .storageUnavailable(let message):
      self = .storageUnavailable(account: account?.description, message: "Nothing was accepted: \(message)")
    case .shuttingDown: self = .shuttingDown
    }
  }
}
