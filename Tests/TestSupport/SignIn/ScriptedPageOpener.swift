package import HearthCore
import Synchronization

/// A desktop that shows no page to anybody, and tells which were opened.
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

  /// How many pages it was to open.
  package var count: Int { state.withLock(\.count) }

  /// The next page that it is to open.
  package func nextPage() async -> String? {
    for await page in pages { return page }
    return nil
  }

  /// Returns once it was asked for a display, each time once more.
  package func nextQuestion() async {
    for await _ in questions { return }
  }

  package func hasDisplay() async -> Bool {
    asked.yield()
    return state.withLock(\.hasDisplay)
  }

  package func open(_ url: String) async throws(PageNotOpened) {
    let opens = state.withLock { state in
      state.count += 1
      return state.opens
    }
    opened.yield(url)
    guard opens else { throw PageNotOpened(message: "There is no browser.") }
  }
}
