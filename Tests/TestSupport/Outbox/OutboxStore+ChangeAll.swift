package import HearthCore

extension OutboxStore {
  /// For tests without pauses.
  package func recover() async throws(OutboxStoreFailure) { try await recover(pausing: []) }

  /// The first of several calls.
  package func changeAll(
    of account: AccountName, in state: OutboxItem.State, _ change: OutboxChange, limit: Int
  ) async throws(OutboxStoreFailure) -> Int {
    try await changeAll(of: account, in: state, change, upTo: nil, limit: limit).count
  }
}
