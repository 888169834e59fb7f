import HearthControl
import HearthCore

/// The handlers of `outbox.*`.
extension ControlService {
  static let outboxMethods: [any ServedMethod.Type] = [
    Enqueue.self, EnqueueMany.self, GetItem.self, ListItems.self, CancelItems.self, RetryItems.self, PauseOutbox.self,
    ResumeOutbox.self, FlushOutbox.self, GetOutboxStats.self, ExportItems.self, ImportItems.self,
  ]

  /// Reads one page and encodes the answer. Calls take turns, because pages are large and a client might request many
  /// pages without reading them.
  fileprivate func page(
    of query: OutboxQuery, _ read: @autoclosure () async throws -> JSON
  ) async throws -> ControlResponse {
    try await check(query.account)
    return try await pages.withLock {
      guard !Task.isCancelled else {
        throw RPCError.overloaded(
          "The connection was closed before the request was processed.")
      }
      return .result(try await read())
    }
  }

  /// Changes one item, or all of an account's items that are in one state.
  fileprivate func change(_ choice: ItemChoice, _ change: OutboxChange) async throws -> ItemCount {
    switch choice {
    case .item(let id):
      return ItemCount(try await outbox.change(id, change))
    case .all(let account, let state):
      try await check(account)
      return ItemCount(try await outbox.changeAll(account, in: state.state, change))
    }
  }

  fileprivate func setPaused(_ account: AccountName?, _ isPaused: Bool) async throws -> Empty {
    try await check(account)
    try await outbox.setPaused(account, isPaused)
    return Empty()
  }
}

extension Enqueue: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> EnqueueReceipt {
    try await service.check(draft.account)
    let receipt = try await service.outbox.enqueue(draft)
    return EnqueueReceipt(id: receipt.item.id, state: receipt.item.state, isDuplicate: receipt.isDuplicate)
  }
}

extension EnqueueMany: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> EnqueuedItems {
    for draft in drafts { try await service.check(draft.account) }
    let receipts = try await service.outbox.enqueueMany(drafts)
    return EnqueuedItems(ids: receipts.map(\.item.id), duplicates: receipts.map(\.isDuplicate))
  }
}

extension GetItem: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> OutboxItem {
    try await service.outbox.get(text)
  }
}

extension ListItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws -> ControlResponse {
    try await service.page(of: query, await service.outbox.list(query).json(at: service.clock.now()))
  }
}

extension ExportItems: ServedMethod {
  func respond(from service: ControlService, for _: any ControlPeer) async throws -> ControlResponse {
    try await service.page(of: query, await service.outbox.export(query).json)
  }
}

extension ImportItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> ImportReceipt {
    for item in items { try await service.check(item.draft.account) }
    let receipts =
      try await isDryRun
      ? service.outbox.rehearse(items, after: itemsBefore, bytes: bytesBefore) : service.outbox.importMany(items)
    return ImportReceipt(
      items: receipts.map { EnqueueReceipt(id: $0.item.id, state: $0.item.state, isDuplicate: $0.isDuplicate) },
      bytes: receipts.filter { !$0.isDuplicate }.reduce(0) { $0 + $1.item.bytes })
  }
}

extension CancelItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> ItemCount {
    try await service.change(choice, .cancel)
  }
}

extension RetryItems: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> ItemCount {
    try await service.change(choice, .retry)
  }
}

extension PauseOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Empty {
    try await service.setPaused(account, true)
  }
}

extension ResumeOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> Empty {
    try await service.setPaused(account, false)
  }
}

extension FlushOutbox: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> OutboxStats {
    try await service.check(account)
    return try await service.outbox.flush(account, timeout: timeout)
  }
}

extension GetOutboxStats: PlainMethod {
  func result(from service: ControlService, for _: any ControlPeer) async throws -> OutboxStats {
    try await service.check(account)
    return try await service.outbox.getStats(account)
  }
}
