/// Opens web pages in the user's browser.
package protocol PageOpener: Sendable {
  /// Returns whether the user has configured a browser or has a graphical session. The result can change at any time,
  /// so check before each use.
  func hasDisplay() async -> Bool

  /// Asks the browser to open the page, without waiting until it is open.
  func open(_ url: String) async throws(PageNotOpened)
}

/// The reason why a page could not be opened, for the log only.
package struct PageNotOpened: Error, Hashable, Sendable {
  package let message: String

  package init(message: String) { self.message = message }
}
