package import HearthCore
import Synchronization

/// Keeps metrics in memory, as a disk does across restarts.
package final class MemoryMetricsStore: MetricsStore {
  private let state = Mutex<(kept: [MetricFamily], failure: AccessFailure?)>(([], nil))

  package init() {}

  package var kept: [MetricFamily] { state.withLock(\.kept) }

  package func cannotBeUsed(_ failure: AccessFailure?) { state.withLock { $0.failure = failure } }

  package func recall() async throws(AccessFailure) -> [MetricFamily] {
    let (kept, failure) = state.withLock(\.self)
    if let failure { throw failure }
    return kept
  }

  package func keep(_ families: [MetricFamily]) async throws(AccessFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.kept = families }
      return state.failure
    }
    if let failure { throw failure }
  }
}
