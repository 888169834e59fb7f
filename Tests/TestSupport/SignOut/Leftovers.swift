package import HearthCore
import Synchronization

/// The grants that a session left for revocation.
package final class Leftovers: Sendable {
  private let state = Mutex<(all: [Credential], watchers: [AsyncStream<Int>.Continuation])>(([], []))

  package init() {}

  package var all: [Credential] { state.withLock(\.all) }

  package func add(_ credential: Credential) {
    state.withLock { state in
      state.all.append(credential)
      state.watchers.forEach { $0.yield(state.all.count) }
    }
  }

  package func wait(for count: Int) async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    state.withLock { state in
      state.watchers.append(continuation)
      continuation.yield(state.all.count)
    }
    for await found in stream where found >= count { return }
  }
}
