import HearthControl
import HearthCore

/// The handlers of `outbox.*`.
extension ControlService {
  static let outboxMethods: [any ServedMethod.Type] = [
    Enqueue.self, EnqueueMany.self, GetItem.self, ListItems.self, CancelItems.self, RetryItems.self, PauseOutbox.self,
    ResumeOutbox.self, FlushOutbox.self, GetOutboxStats.self, ExportItems.self, ImportItems.self,
  ]

  /// Cancels the items of these subjects that are not delivered.
  func discardOutbox(of account: AccountName, under subjects: [Subject?]) async throws(RPCError) {
    if subjects.isEmpty { return }
    _ = try await asked(of: account, await outbox.purge(account, of: subjects))
  }

  /// Makes a call's errors those of the contract. `account` and `item` are the ones in the call.
  fileprivate func asked<Value>(
    of account: AccountName? = nil, item: String = "", _ call: @autoclosure () async throws(OutboxError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(OutboxError) {
      return try await call()
    } catch {
      throw RPCError(error, account: account, item: item)
    }
  }

  /// Makes a call's errors those of the contract. An error may be about one of `drafts`.
  fileprivate func asked<Value>(
    about drafts: [OutboxDraft], _ call: @autoclosure () async throws(OutboxError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(OutboxError) {
      return try await call()
    } catch .item(let place, let reason) {
      throw RPCError(reason, account: drafts[place].account, place: "items[\(place)]")
    } catch {
      let account = drafts.first?.account
      throw RPCError(error, account: drafts.allSatisfy { $0.account == account } ? account : nil)
    }
  }

  /// Reads one page and makes the answer, one call at a time: pages are large, and a client may ask for many and read
  /// none.
  fileprivate func page(
    of query: OutboxQuery, _ read: @autoclosure () async throws(OutboxError) -> JSON
  ) async throws(RPCError) -> ControlResponse {
    try await check(query.account)
    return try await pages.withLock { () async throws(RPCError) in
      guard !Task.isCancelled else { throw .overloaded("The connection was closed before its turn came.") }
      return .result(try await asked(of: query.account, await read()))
    }
  }

  /// Changes one item, or all items of an account in one state.
  fileprivate func change(_ choice: ItemChoice, _ change: OutboxChange) async throws(RPCError) -> ItemCount {
    switch choice {
    case .item(let id):
      return ItemCount(try await asked(item: id, await outbox.change(id, change)))
    case .all(let account, let state):
      try await check(account)
      return ItemCount(
        try await asked(of: account, await outbox.changeAll(account, in: state.state, change)))
    }
  }

  fileprivate func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws(RPCError) -> Empty {
    try await check(account)
    try await asked(of: account, await outbox.setPaused(account, isPaused))
    return Empty()
  }
}

extension Enqueue: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> EnqueueReceipt {
    try await service.check(draft.account)
    let receipt = try await service.asked(of: draft.account, await service.outbox.enqueue(draft))
    return EnqueueReceipt(id: receipt.item.id, state: receipt.item.state, isDuplicate: receipt.isDuplicate)
  }
}

extension EnqueueMany: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> EnqueuedItems {
    for draft in drafts { try await service.check(draft.account) }
    let receipts = try await service.asked(about: drafts, await service.outbox.enqueueMany(drafts))
    return EnqueuedItems(ids: receipts.map(\.item.id), duplicates: receipts.map(\.isDuplicate))
  }
}

extension GetItem: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxItem {
    try await service.asked(item: text, await service.outbox.get(text))
  }
}

extension ListItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ControlResponse {
    try await service.page(of: query, await service.outbox.list(query).json(at: service.clock.now()))
  }
}

extension ExportItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ControlResponse {
    try await service.page(of: query, await service.outbox.export(query).json)
  }
}

extension ImportItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ImportReceipt {
    for item in items { try await service.check(item.draft.account) }
    let receipts = try await service.asked(
      about: items.map(\.draft),
      isDryRun
        ? await service.outbox.rehearse(items, after: itemsBefore, bytes: bytesBefore)
        : await service.outbox.importMany(items))
    return ImportReceipt(
      items: receipts.map { EnqueueReceipt(id: $0.item.id, state: $0.item.state, isDuplicate: $0.isDuplicate) },
      bytes: receipts.filter { !$0.isDuplicate }.reduce(0) { $0 + $1.item.bytes })
  }
}

extension CancelItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ItemCount {
    try await service.change(choice, .cancel)
  }
}

extension RetryItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ItemCount {
    try await service.change(choice, .retry)
  }
}

extension PauseOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Empty {
    try await service.setPaused(account, true)
  }
}

extension ResumeOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Empty {
    try await service.setPaused(account, false)
  }
}

extension FlushOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxStats {
    try await service.check(account)
    return try await service.asked(of: account, await service.outbox.flush(account, timeout: timeout))
  }
}

extension GetOutboxStats: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxStats {
    try await service.check(account)
    return try await service.asked(of: account, await service.outbox.getStats(account))
  }
}
