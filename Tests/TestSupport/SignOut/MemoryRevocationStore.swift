package import HearthCore
import Synchronization

/// Keeps grants to revoke in memory, as a disk does across restarts.
package final class MemoryRevocationStore: RevocationStore {
  private let state = Mutex<(kept: [PendingRevocation], failure: AccessFailure?)>(([], nil))

  package init() {}

  package var kept: [PendingRevocation] { state.withLock(\.kept) }

  package func cannotBeWritten(_ failure: AccessFailure?) { state.withLock { $0.failure = failure } }

  package func keep(_ pending: PendingRevocation) async throws(AccessFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.kept.append(pending) }
      return state.failure
    }
    if let failure { throw failure }
  }

  package func remove(_ pending: PendingRevocation) async {
    state.withLock { $0.kept.removeAll { $0.id == pending.id } }
  }

  package func recall(at now: Timestamp) async -> [PendingRevocation] { kept }
}
