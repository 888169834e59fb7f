package import HearthCore
internal import Synchronization

/// Files of sinks in memory, which refuse as the test says.
package final class MemorySinkFiles: SinkFiles {
  private struct State {
    var files: [String: String] = [:]
    var failure: SinkFailure?
    var puts: [Put] = []
  }

  /// What was to be written, and for whose sink.
  package struct Put: Hashable, Sendable {
    package let text: String
    package let account: AccountName
  }

  private let state: Mutex<State>

  package init(_ files: [String: String] = [:]) { state = Mutex(State(files: files)) }

  package var files: [String: String] { state.withLock(\.files) }

  /// All that was put, in its order.
  package var puts: [Put] { state.withLock(\.puts) }

  /// Every step from now on; nil: none.
  package func fails(with failure: SinkFailure?) { state.withLock { $0.failure = failure } }

  package func requireFree(_ path: String) async throws(SinkFailure) {
    try refuse()
    if files[path] != nil { throw .occupied }
  }

  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    try refuse()
    state.withLock { state in
      state.files[sink.path] = String(decoding: bytes, as: UTF8.self)
      state.puts.append(Put(text: String(decoding: bytes, as: UTF8.self), account: sink.account))
    }
  }

  package func remove(_ path: String) async throws(SinkFailure) {
    try refuse()
    state.withLock { _ = $0.files.removeValue(forKey: path) }
  }

  private func refuse() throws(SinkFailure) {
    if let failure = state.withLock(\.failure) { throw failure }
  }
}
