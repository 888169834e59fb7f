package import HearthCore
internal import Synchronization

/// Keeps the paths in memory, and refuses as the test says.
package final class MemorySinkRecord: SinkRecord {
  private let state: Mutex<(paths: Set<String>, failure: AccessFailure?)>

  package init(_ paths: Set<String> = []) { state = Mutex((paths, nil)) }

  package var paths: Set<String> { state.withLock(\.paths) }

  /// From now on; nil: no more.
  package func fails(with failure: AccessFailure?) { state.withLock { $0.failure = failure } }

  package func recall() async throws(AccessFailure) -> Set<String> { paths }

  package func keep(_ paths: Set<String>) async throws(AccessFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.paths = paths }
      return state.failure
    }
    if let failure { throw failure }
  }
}
