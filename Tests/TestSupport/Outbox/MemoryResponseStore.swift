package import HearthCore
import Synchronization

/// Kept answers in memory.
package final class MemoryResponseStore: ResponseStore {
  private struct Row {
    let key: ResponseKey
    let response: StoredResponse
  }

  private let limits: ResponseLimits
  /// The most recently used answers come last.
  private let rows = Mutex<[Row]>([])

  package init(limits: ResponseLimits = ResponseLimits()) {
    self.limits = limits
  }

  private let heldWipe = Mutex<(@Sendable () async -> Void)?>(nil)

  /// Delays the next wipe until `body` has finished.
  package func holdWipe(_ body: @escaping @Sendable () async -> Void) { heldWipe.withLock { $0 = body } }

  package var count: Int { rows.withLock(\.count) }

  private static func matches(_ row: Row, _ key: ResponseKey) -> Bool {
    row.key.account == key.account && row.key.subject == key.subject && row.key.url == key.url
      && row.key.selection(by: row.response.selectors) == key.selection(by: row.response.selectors)
  }

  package func find(_ key: ResponseKey) async -> StoredResponse? {
    rows.withLock { rows in
      let found = rows.filter { Self.matches($0, key) }.max { $0.response.confirmedAt < $1.response.confirmedAt }
      guard let found, let place = rows.firstIndex(where: { $0.response == found.response && $0.key == found.key })
      else { return nil }
      rows.append(rows.remove(at: place))
      return found.response
    }
  }

  package func keep(_ response: StoredResponse, for key: ResponseKey, unlessRepeating secrets: [Secret]) async {
    rows.withLock { rows in
      rows.removeAll { Self.matches($0, key) }
      guard response.size <= min(limits.answer, limits.account), !response.repeats(secrets, at: key.url) else { return }
      rows.append(Row(key: key, response: response))
      while rows.filter({ $0.key.account == key.account }).reduce(0, { $0 + $1.response.size }) > limits.account,
        let oldest = rows.firstIndex(where: { $0.key.account == key.account })
      {
        rows.remove(at: oldest)
      }
    }
  }

  package func remove(_ key: ResponseKey) async {
    rows.withLock { $0.removeAll { Self.matches($0, key) } }
  }

  package func wipe(_ account: AccountName, keeping subject: Subject?) async {
    await heldWipe.withLock { $0.take() }?()
    rows.withLock { $0.removeAll { $0.key.account == account && $0.key.subject != subject } }
  }

  package func wipeAll(but accounts: Set<AccountName>) async {
    rows.withLock { $0.removeAll { !accounts.contains($0.key.account) } }
  }
}
