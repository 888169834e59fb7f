/// Keeps sealed grants that still have to be revoked.
package protocol RevocationStore: Sendable {
  /// Keeps a grant durably. Not called for one that is kept only in memory.
  func keep(_ pending: PendingRevocation) async throws(AccessFailure)

  /// Forgets it. Does nothing if it is not there.
  func remove(_ pending: PendingRevocation) async

  /// Returns all that can be opened. Those that cannot be opened now stay; those that cannot be parsed are removed
  /// after `PendingRevocation.longest`.
  func recall(at now: Timestamp) async -> [PendingRevocation]
}
