package import HearthCore
internal import Synchronization

/// Token files in memory, which fail as the test says.
package final class MemorySinkFiles: SinkFiles {
  private struct State {
    var files: [String: String] = [:]
    var failure: SinkFailure?
    var puts: [Put] = []
    var begins = 0
    var putFailure: SinkFailure?
    var links: [String: String] = [:]
  }

  /// What was written, and for which sink.
  package struct Put: Hashable, Sendable {
    package let text: String
    package let account: AccountName
  }

  private let state: Mutex<State>

  package init(_ files: [String: String] = [:]) { state = Mutex(State(files: files)) }

  package var files: [String: String] { state.withLock(\.files) }

  /// Everything that was written, in order.
  package var puts: [Put] { state.withLock(\.puts) }

  /// Sets the error of every step; nil for none.
  package func fails(with failure: SinkFailure?) { state.withLock { $0.failure = failure } }

  /// Sets the error of every file that is started; nil for none.
  package func failsToPut(with failure: SinkFailure?) { state.withLock { $0.putFailure = failure } }

  /// Makes the folder `link` the same as the folder `target`.
  package func link(_ link: String, to target: String) { state.withLock { $0.links[link] = target } }

  package func place(of path: String) async throws(SinkFailure) -> SinkPlace {
    try refuse()
    return (0, 0, real(path))
  }

  private func real(_ path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return state.withLock { $0.links[String(path[..<slash])].map { $0 + path[slash...] } } ?? path
  }

  package func requireFree(for sink: SinkSettings) async throws(SinkFailure) {
    try refuse()
    guard let text = files[real(sink.path)], !(sink.isInPlace && text.isEmpty) else { return }
    throw .occupied
  }

  package func begin(at sink: SinkSettings) async throws(SinkFailure) -> SinkMark {
    try refuse()
    return state.withLock { state in
      state.begins += 1
      return "\(state.begins)"
    }
  }

  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    try refuse()
    if let failure = state.withLock(\.putFailure) { throw failure }
    let path = real(sink.path)
    state.withLock { state in
      state.files[path] = String(decoding: bytes, as: UTF8.self)
      state.puts.append(Put(text: String(decoding: bytes, as: UTF8.self), account: sink.account))
    }
  }

  package func remove(_ path: String, keepingFile: Bool) async throws(SinkFailure) {
    try refuse()
    let path = real(path)
    state.withLock { if $0.files[path] != nil { $0.files[path] = keepingFile ? "" : nil } }
  }

  private func refuse() throws(SinkFailure) {
    if let failure = state.withLock(\.failure) { throw failure }
  }
}
