import HearthControl
import HearthCore

/// The handlers of `outbox.*`.
extension ControlService {
  static let outboxMethods: [any ServedMethod.Type] = [
    Enqueue.self, EnqueueMany.self, GetItem.self, ListItems.self, CancelItems.self, RetryItems.self, PauseOutbox.self,
    ResumeOutbox.self, FlushOutbox.self, GetOutboxStats.self, ExportItems.self, ImportItems.self,
  ]

  /// Cancels what is not delivered of these subjects' items.
  func discardOutbox(of account: AccountName, under subjects: [Subject?]) async throws(RPCError) {
    if subjects.isEmpty { return }
    _ = try await asked(of: account) { () async throws(OutboxError) in try await outbox.purge(account, of: subjects) }
  }

  /// `account` and `item`: what the call was about, for its error.
  fileprivate func asked<Value>(
    of account: AccountName? = nil, item: String = "", _ call: () async throws(OutboxError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(OutboxError) {
      return try await call()
    } catch {
      throw RPCError(error, account: account, item: item)
    }
  }

  /// `drafts`: of which one may be the reason of an error.
  fileprivate func asked<Value>(
    about drafts: [OutboxDraft], _ call: () async throws(OutboxError) -> Value
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

  /// One page at a time is read and made an answer: they are large, and a client may ask for many and read none.
  fileprivate func page(
    of query: OutboxQuery, _ read: () async throws(OutboxError) -> JSON
  ) async throws(RPCError) -> ControlResponse {
    try await check(query.account)
    return try await pages.withLock { () async throws(RPCError) in
      guard !Task.isCancelled else { throw .overloaded("The connection was closed before its turn came.") }
      return .result(try await asked(of: query.account, read))
    }
  }

  /// Changes one item, or all of an account that are in a state.
  fileprivate func change(
    _ choice: ItemChoice, item: (String) async throws(OutboxError) -> Int,
    all: (AccountName, OutboxItem.State) async throws(OutboxError) -> Int
  ) async throws(RPCError) -> ItemCount {
    switch choice {
    case .item(let id):
      return ItemCount(try await asked(item: id) { () async throws(OutboxError) in try await item(id) })
    case .all(let account, let state):
      try await check(account)
      return ItemCount(
        try await asked(of: account) { () async throws(OutboxError) in try await all(account, state.state) })
    }
  }
}

extension Enqueue: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> EnqueueReceipt {
    try await service.check(draft.account)
    let receipt = try await service.asked(of: draft.account) { () async throws(OutboxError) in
      try await service.outbox.enqueue(draft)
    }
    return EnqueueReceipt(id: receipt.item.id, state: receipt.item.state, isDuplicate: receipt.isDuplicate)
  }
}

extension EnqueueMany: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> EnqueuedItems {
    for draft in drafts { try await service.check(draft.account) }
    return try await service.asked(about: drafts) { () async throws(OutboxError) in
      let receipts = try await service.outbox.enqueueMany(drafts)
      return EnqueuedItems(ids: receipts.map(\.item.id), duplicates: receipts.map(\.isDuplicate))
    }
  }
}

extension GetItem: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxItem {
    try await service.asked(item: text) { () async throws(OutboxError) in try await service.outbox.get(text) }
  }
}

extension ListItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ControlResponse {
    try await service.page(of: query) { () async throws(OutboxError) in
      try await service.outbox.list(query).json(at: service.clock.now())
    }
  }
}

extension ExportItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ControlResponse {
    try await service.page(of: query) { () async throws(OutboxError) in try await service.outbox.export(query).json }
  }
}

extension ImportItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ImportReceipt {
    for item in items { try await service.check(item.draft.account) }
    let drafts = items.map(\.draft)
    return try await service.asked(about: drafts) { () async throws(OutboxError) in
      let receipts = try await service.outbox.importMany(items, isDryRun: isDryRun)
      return ImportReceipt(
        items: receipts.map { EnqueueReceipt(id: $0.item.id, state: $0.item.state, isDuplicate: $0.isDuplicate) })
    }
  }
}

extension CancelItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ItemCount {
    try await service.change(
      choice, item: { (id) async throws(OutboxError) in try await service.outbox.cancel(id) },
      all: { (account, state) async throws(OutboxError) in try await service.outbox.cancelAll(account, in: state) })
  }
}

extension RetryItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> ItemCount {
    try await service.change(
      choice, item: { (id) async throws(OutboxError) in try await service.outbox.retry(id) },
      all: { (account, state) async throws(OutboxError) in try await service.outbox.retryAll(account, in: state) })
  }
}

extension PauseOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Empty {
    try await service.check(account)
    try await service.asked(of: account) { () async throws(OutboxError) in try await service.outbox.pause(account) }
    return Empty()
  }
}

extension ResumeOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> Empty {
    try await service.check(account)
    try await service.asked(of: account) { () async throws(OutboxError) in try await service.outbox.resume(account) }
    return Empty()
  }
}

extension FlushOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxStats {
    try await service.check(account)
    return try await service.asked(of: account) { () async throws(OutboxError) in
      try await service.outbox.flush(account, timeout: timeout)
    }
  }
}

extension GetOutboxStats: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws(RPCError) -> OutboxStats {
    try await service.check(account)
    return try await service.asked(of: account) { () async throws(OutboxError) in
      try await service.outbox.getStats(account)
    }
  }
}
