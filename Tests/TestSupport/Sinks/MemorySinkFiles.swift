package import HearthCore
internal import Synchronization

/// Files of sinks in memory, which refuse as the test says.
package final class MemorySinkFiles: SinkFiles {
  private struct State {
    var files: [String: String] = [:]
    var failure: SinkFailure?
    var puts = 0
    var links: [String: String] = [:]
  }

  private let state: Mutex<State>

  package init(_ files: [String: String] = [:]) { state = Mutex(State(files: files)) }

  package var files: [String: String] { state.withLock(\.files) }

  /// How many times something was put.
  package var puts: Int { state.withLock(\.puts) }

  /// Every step from now on; nil: none.
  package func fails(with failure: SinkFailure?) { state.withLock { $0.failure = failure } }

  /// From now on the folder `link` is the folder `target`.
  package func link(_ link: String, to target: String) { state.withLock { $0.links[link] = target } }

  package func place(of path: String) async throws(SinkFailure) -> SinkPlace {
    try refuse()
    return SinkPlace(device: 0, folder: 0, name: real(path))
  }

  private func real(_ path: String) -> String {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return state.withLock { $0.links[String(path[..<slash])].map { $0 + path[slash...] } } ?? path
  }

  package func requireFree(_ path: String) async throws(SinkFailure) {
    try refuse()
    if files[real(path)] != nil { throw .occupied }
  }

  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    try refuse()
    let path = real(sink.path)
    state.withLock { state in
      state.files[path] = String(decoding: bytes, as: UTF8.self)
      state.puts += 1
    }
  }

  package func remove(_ path: String) async throws(SinkFailure) {
    try refuse()
    let path = real(path)
    state.withLock { _ = $0.files.removeValue(forKey: path) }
  }

  private func refuse() throws(SinkFailure) {
    if let failure = state.withLock(\.failure) { throw failure }
  }
}
