internal import HearthCore
import Synchronization

/// A desktop that shows no pages, and reports which were opened.
package final class ScriptedPageOpener: PageOpener {
  private struct State {
    var hasDisplay = true
    var opens = true
    var count = 0
  }

  private let state = Mutex(State())
  private let pages: AsyncStream<String>
  private let questions: AsyncStream<Void>
  private let opened: AsyncStream<String>.Continuation
  private let asked: AsyncStream<Void>.Continuation

  package init() {
    (pages, opened) = AsyncStream.makeStream()
    (questions, asked) = AsyncStream.makeStream()
  }

  /// From now on.
  package func set(hasDisplay: Bool, opens: Bool) {
    state.withLock { ($0.hasDisplay, $0.opens) = (hasDisplay, opens) }
  }

  /// The number of pages that it was asked to open.
  package var count: Int { state.withLock(\.count) }

  /// The next page that it is asked to open.
  package func nextPage() async -> String? {
    for await page in pages { return page }
    return nil
  }

  /// Returns when it has been asked for a display once more.
  package func nextQuestion() async {
    for await _ in questions { return }
  }

  package func hasDisplay() async -> Bool {
    asked.yield()
    return state.withLock(\.hasDisplay)
  }

  package func open(_ url: String) async -> String? {
    let opens = state.withLock { state in
      state.count += 1
      return state.opens
    }
    opened.yield(url)
    return opens ? nil : "There is no browser."
  }
}
