/// Keeps sealed grants that still have to be revoked.
package protocol RevocationStore: Sendable {
  /// Durable when it returns. Not called for one that is kept only in memory.
  func keep(_ pending: PendingRevocation) async throws(AccessFailure)

  /// Forgets it. Does nothing if it is not there.
  func remove(_ pending: PendingRevocation) async

  /// Returns all that can be opened. Removes those that have expired or cannot be parsed; those that cannot be opened
  /// now stay.
  func recall(at now: Timestamp) async -> [PendingRevocation]
}
