/// Shows the user of this machine a web page in their own browser.
package protocol PageOpener: Sendable {
  /// Whether there is a display that somebody may be looking at. It can come and go, so ask each time.
  func hasDisplay() async -> Bool

  /// Returns once the page has been handed to the browser, without waiting for it.
  func open(_ url: String) async throws(PageNotOpened)
}

/// Why no page was opened, in words for a log. The caller can do nothing about it.
package struct PageNotOpened: Error, Hashable, Sendable {
  package let message: String

  package init(message: String) { self.message = message }
}
