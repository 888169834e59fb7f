import Synchronization

/// Records published events, and lets a test wait for one.
package final class OutboxEventLog<Event: Sendable>: Sendable {
  private struct Watcher {
    let matches: @Sendable (Event) -> Bool
    let continuation: CheckedContinuation<Event, Never>
  }

  private struct State {
    var log: [Event] = []
    var watchers: [Watcher] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var all: [Event] { state.withLock(\.log) }

  package func add(_ event: Event) {
    let found = state.withLock { state in
      state.log.append(event)
      let found = state.watchers.filter { $0.matches(event) }
      state.watchers.removeAll { $0.matches(event) }
      return found
    }
    found.forEach { $0.continuation.resume(returning: event) }
  }

  /// The first matching event, past or future.
  @discardableResult
  package func first(where matches: @escaping @Sendable (Event) -> Bool) async -> Event {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Event? in
        if let known = state.log.first(where: matches) { return known }
        state.watchers.append(Watcher(matches: matches, continuation: continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
