package import HearthCore

/// Exports items to another outbox and imports them.
extension OutboxService {
  /// The size of one page's content, in bytes.
  private static let exportBytes = 1 << 20

  /// A page of the undelivered items, at most 1,000.
  package func export(_ query: OutboxQuery) async throws(OutboxError) -> ExportPage {
    try check(query)
    if let state = query.state, !state.keepsContent {
      throw .invalidRequest("state: an item that is \(state.rawValue) has no content left to export")
    }
    return try await answered(await store.export(query, bytes: Self.exportBytes))
  }

  /// Stores all items or none. Throws `item` if one of them is the reason.
  package func importMany(_ exported: [ExportedItem]) async throws(OutboxError) -> [OutboxReceipt] {
    let now = self.now()
    return try await keep(try checked(exported, at: now), at: now)
  }

  /// Reports what an import would do, without storing anything. `count` and `bytes` are the number and size of the items
  /// that earlier pages would have added.
  package func rehearse(
    _ exported: [ExportedItem], after count: Int, bytes: Int
  ) async throws(OutboxError) -> [OutboxReceipt] {
    let items = try checked(exported, at: now())
    var settings = machine.settings
    settings.maxItems -= count
    settings.maxBytes -= bytes
    return try await answered(await store.rehearse(items, within: settings))
  }

  private func checked(_ exported: [ExportedItem], at now: Timestamp) throws(OutboxError) -> [NewOutboxItem] {
    try checkedAll(exported) { (item) throws(OutboxError) in try checked(item, at: now) }
  }

  private func checked(_ exported: ExportedItem, at now: Timestamp) throws(OutboxError) -> NewOutboxItem {
    let url = try checkedURL(of: exported.draft)
    do {
      let kept = try exported.kept(horizon: machine.settings.idempotencyHorizon, at: now)
      // An item of another, unnamed user waits for a person here as well.
      let subject = exported.subject ?? (exported.reason == .otherUser ? .unnamedBefore : nil)
      return NewOutboxItem(id: exported.id, draft: exported.draft, url: url, subject: subject, kept: kept)
    } catch { throw .invalidRequest("\(error)") }
  }
}
