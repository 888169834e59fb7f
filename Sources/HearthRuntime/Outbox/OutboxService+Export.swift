package import HearthCore

/// Items for another outbox, and from one.
extension OutboxService {
  /// The content of one page, in bytes.
  private static let exportBytes = 1 << 20

  /// A page of the items that are not delivered, at most 1,000 of them.
  package func export(_ query: OutboxQuery) async throws(OutboxError) -> ExportPage {
    try check(query)
    if let state = query.state, !state.keepsContent {
      throw .invalidRequest("state: of an item that is \(state.rawValue) nothing is kept that could be exported")
    }
    do {
      return try await store.export(query, bytes: Self.exportBytes)
    } catch { throw callError(error) }
  }

  /// Keeps all of them, or none. Throws `item` where one of them is the reason. `isDryRun`: keeps none.
  package func importMany(
    _ exported: [ExportedItem], isDryRun: Bool
  ) async throws(OutboxError) -> [OutboxReceipt] {
    if machine.isStopping { throw .shuttingDown }
    let now = self.now()
    var items: [NewOutboxItem] = []
    for (place, item) in exported.enumerated() {
      do throws(OutboxError) { items.append(try checked(item, at: now)) } catch { throw .item(place, error) }
    }
    guard !isDryRun else {
      do { return try await store.rehearse(items, within: settings) } catch { throw callError(error) }
    }
    return try await keep(items, at: now)
  }

  private func checked(_ exported: ExportedItem, at now: Timestamp) throws(OutboxError) -> NewOutboxItem {
    let url = try checkedURL(of: exported.draft)
    do {
      let kept = try exported.kept(horizon: settings.idempotencyHorizon, at: now)
      // One of another user without a name waits for a person here, too.
      let subject = exported.subject ?? (exported.reason == .otherUser ? .unnamedBefore : nil)
      return NewOutboxItem(id: exported.id, draft: exported.draft, url: url, subject: subject, kept: kept)
    } catch { throw .invalidRequest("\(error)") }
  }
}
