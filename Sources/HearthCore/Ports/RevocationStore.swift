/// Where grants are kept, sealed, that are still to be revoked.
package protocol RevocationStore: Sendable {
  /// Durable when it returns. Not called for one that is kept in memory alone.
  func keep(_ pending: PendingRevocation) async throws(AccessFailure)

  /// Forgets it; nothing where it is not there.
  func remove(_ pending: PendingRevocation) async

  /// All that can be opened. What has expired, or cannot be understood, is removed; what cannot be opened now stays.
  func recall(at now: Timestamp) async -> [PendingRevocation]
}
