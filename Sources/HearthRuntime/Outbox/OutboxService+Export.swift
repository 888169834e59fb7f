package import HearthCore

/// Exports items to another outbox and imports them.
extension OutboxService {
  /// The size of one page's content, in bytes.
  private static let exportBytes = 1 << 20

  /// A page of the undelivered items, at most 1,000.
  package func export(_ query: OutboxQuery) async throws -> ExportPage {
    try check(query)
    if let state = query.state, !state.keepsContent {
      throw Failure(
        .invalidParams, "state: an item that is \(state.rawValue) has no content left to export")
    }
    return try await answered(of: query.account, await store.export(query, bytes: Self.exportBytes))
  }

  /// Stores all items or none. If one of them is the reason for a failure, the failure names it (`item`).
  package func importMany(_ exported: [ExportedItem]) async throws -> [OutboxReceipt] {
    let now = self.now()
    return try await keep(try checked(exported, at: now), at: now)
  }

  /// Reports what an import would do, without storing anything. `count` and `bytes` are the number and size of the items
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
    do throws(DraftError) {
      let kept = try exported.kept(horizon: machine.settings.idempotencyHorizon, at: now)
      // An item of another, unnamed user waits for a person here as well.
      let subject = exported.subject ?? (exported.reason == .otherUser ? .unnamedBefore : nil)
      return NewOutboxItem(id: exported.id, draft: exported.draft, url: url, subject: subject, kept: kept)
    } catch { throw Failure(.invalidParams, error.description) }
  }
}
