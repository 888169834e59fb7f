/// Stores sealed grants that still have to be revoked.
package protocol RevocationStore: Sendable {
  /// Saves a grant durably. Never called for a grant that is kept only in memory.
  func keep(_ pending: PendingRevocation) async throws

  /// Removes a grant, if it exists.
  func remove(_ pending: PendingRevocation) async

  /// Returns all grants that can be unsealed. Grants that cannot currently be unsealed stay in the store. Grants that
  /// cannot be parsed are removed after `PendingRevocation.longest`.
  func recall(at now: Timestamp) async -> [PendingRevocation]
}
