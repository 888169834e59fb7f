internal import GRDB
internal import HearthCore

extension OutboxTransaction {
  func export(_ query: OutboxQuery, bytes: Int) throws -> ExportPage {
    let page = try list(query, keepingContent: true)
    var (exported, room) = (ExportPage(items: [], damaged: 0, cursor: page.cursor), bytes)
    var last: StoredItem?
    for item in page.items {
      // Export at least one item, regardless of its size.
      if room < item.bytes, let last {
        exported.cursor = String(last.position)
        return exported
      }
      guard let stored = try row(OutboxQueries.byID, [item.id]) else { continue }
      room -= item.bytes
      last = stored
      switch try content(of: stored) {
      case .sound(let delivery):
        exported.items.append(self.exported(item, stored, delivery.request))
      case .unsendable: exported.damaged += 1
      }
    }
    return exported
  }

  private func exported(_ item: OutboxItem, _ stored: StoredItem, _ request: APIRequest) -> ExportedItem {
    let draft = OutboxDraft(
      account: item.account, method: item.method, url: item.url, headers: request.headers, body: request.body,
      lane: item.lane ?? "default", isUnordered: item.lane == nil,
      idempotencyKey: item.idempotencyKey == item.id ? nil : item.idempotencyKey, replaceKey: stored.replaceKey,
      notBefore: stored.progress.notBefore, expiresAt: stored.progress.expiresAt, expect: stored.expect)
    return ExportedItem(
      id: item.id, subject: item.subject, draft: draft, state: item.state, reason: item.reason,
      attempts: item.attempts, createdAt: item.createdAt,
      nextAttemptAt: stored.progress.state == .waiting ? stored.progress.dueAt : nil,
      unknownSince: stored.progress.unknownSince, mayHaveLeft: stored.progress.mayHaveLeft,
      lastStatus: item.lastStatus, lastError: item.lastError, exportedAt: now)
  }
}
