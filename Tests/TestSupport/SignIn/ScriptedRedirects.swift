package import HearthCore
import Synchronization

/// Loopback addresses on which nobody listens. The test plays the browser.
package final class ScriptedRedirects: RedirectListener {
  package final class Address: OpenRedirect {
    package let port = 4711
    package let requests: AsyncStream<ReceivedRedirect>
    private let feed: AsyncStream<ReceivedRedirect>.Continuation
    private let closed = Mutex(false)

    init() {
      (requests, feed) = AsyncStream.makeStream()
    }

    package var isClosed: Bool { closed.withLock(\.self) }

    package func close() async {
      closed.withLock { $0 = true }
      feed.finish()
    }

    /// Sends a request like a browser, and returns the page that it gets.
    package func get(
      _ target: String, method: String = "GET", host: String = "127.0.0.1:4711", by sender: RedirectSender = .user
    ) async -> RedirectPage {
      let request = RedirectRequest(method: method, host: host, target: target, sender: sender)
      return await withCheckedContinuation { page in
        feed.yield((request, { page.resume(returning: $0) }))
      }
    }
  }

  private let state = Mutex<[Address]>([])

  package init() {}

  /// The redirects in the order in which they were opened.
  package var addresses: [Address] { state.withLock(\.self) }

  package func listen(at _: RedirectAddress) async throws(SignInFailure) -> any OpenRedirect {
    let address = Address()
    state.withLock { $0.append(address) }
    return address
  }
}
