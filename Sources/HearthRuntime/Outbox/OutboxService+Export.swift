package import HearthCore

/// Exports items to another outbox and imports them.
extension OutboxService {
  /// The maximum size of one page's content, in bytes.
  private static let exportBytes = 1 << 20

  /// Returns a page of at most 1,000 undelivered items.
  package func export(_ query: OutboxQuery) async throws -> ExportPage {
    try check(query)
    if let state = query.state, !state.keepsContent {
      throw Failure.invalidParams("state cannot be \(state.rawValue), because these items have no content to export")
    }
    return try await answered(of: query.account, await store.export(query, bytes: Self.exportBytes))
  }

  /// Imports all items, or none if one of them is refused. The failure's `item` is the index of that item.
  package func importMany(_ exported: [ExportedItem]) async throws -> [OutboxReceipt] {
    let now = self.now()
    return try await keep(try checked(exported, at: now), at: now)
  }

  /// Returns the result of an import without storing anything. `count` and `bytes` are the number and size of the items
  /// that earlier pages would have added.
  package func rehearse(
    _ exported: [ExportedItem], after count: Int, bytes: Int
  ) async throws -> [OutboxReceipt] {
    let items = try checked(exported, at: now())
    var settings = machine.settings
    settings.maxItems -= count
    settings.maxBytes -= bytes
    return try await answered(among: items, await store.rehearse(items, within: settings))
  }

  private func checked(_ exported: [ExportedItem], at now: Timestamp) throws -> [NewOutboxItem] {
    try checkedAll(exported) { try checked($0, at: now) }
  }

  private func checked(_ exported: ExportedItem, at now: Timestamp) throws -> NewOutboxItem {
    let url = try checkedURL(of: exported.draft)
    let kept = try exported.kept(horizon: machine.settings.idempotencyHorizon, at: now)
    // Keep an item of another, unnamed user on hold after the import, until it is retried with `outbox.retry`.
    let subject = exported.subject ?? (exported.reason == .otherUser ? .unnamedBefore : nil)
    return NewOutboxItem(id: exported.id, draft: exported.draft, url: url, subject: subject, kept: kept)
  }
}
