/// Shows the person who uses this machine a web page, in their own browser.
package protocol PageOpener: Sendable {
  /// Whether there is a display that somebody may be looking at. It can come and go: it is asked each time.
  func hasDisplay() async -> Bool

  /// Returns once the page is on its way to the browser, which nobody waits for.
  func open(_ url: String) async throws(PageNotOpened)
}

/// Why no page was opened, in words for a log; there is nothing that can be done about it here.
package struct PageNotOpened: Error, Hashable, Sendable {
  package let message: String

  package init(message: String) {
    self.message = message
  }
}
