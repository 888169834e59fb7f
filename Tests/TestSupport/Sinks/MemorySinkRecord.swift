package import HearthCore
internal import Synchronization

/// Keeps the paths in memory, and fails as the test says.
package final class MemorySinkRecord: SinkRecord {
  private let state: Mutex<(claims: [SinkTarget: [SinkMark]], failure: AccessFailure?)>

  package init(_ paths: Set<String> = []) {
    state = Mutex((Dictionary(uniqueKeysWithValues: paths.map { (.file($0), []) }), nil))
  }

  package var paths: Set<String> { Set(state.withLock(\.claims).keys.map(\.description)) }

  package func marks(at path: String) -> [SinkMark]? { state.withLock { $0.claims[.file(path)] } }

  /// Sets the error; nil for none.
  package func fails(with failure: AccessFailure?) { state.withLock { $0.failure = failure } }

  package func recall() async throws(AccessFailure) -> [SinkTarget: [SinkMark]] { state.withLock(\.claims) }

  package func keep(_ claims: [SinkTarget: [SinkMark]]) async throws(AccessFailure) {
    let failure = state.withLock { state in
      if state.failure == nil { state.claims = claims }
      return state.failure
    }
    if let failure { throw failure }
  }
}
