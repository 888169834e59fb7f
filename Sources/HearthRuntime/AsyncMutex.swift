/// Lets the callers of an actor in one after another, in the order in which they ask, also across suspensions.
package actor AsyncMutex {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Returns when it is the caller's turn, which lasts until `pass()`.
  package func take() async {
    guard isTaken else { return isTaken = true }
    await withCheckedContinuation { waiting.append($0) }
  }

  package func pass() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
