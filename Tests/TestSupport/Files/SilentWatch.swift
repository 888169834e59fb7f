import HearthCore
import Synchronization

/// A watch that reports nothing until the test says so.
package final class SilentWatch: FileWatch {
  private let state = Mutex<(paths: [String], hints: AsyncStream<Void>.Continuation?)>(([], nil))

  package init() {}

  package func hints(for paths: [String]) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    state.withLock { $0 = (paths, continuation) }
    return stream
  }

  package var paths: [String] { state.withLock(\.paths) }

  package func hint() { _ = state.withLock { $0.hints?.yield() } }
}
