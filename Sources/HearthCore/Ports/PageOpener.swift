/// Opens web pages in the user's browser.
package protocol PageOpener: Sendable {
  /// Returns whether the user has configured a browser or has a graphical session. The result can change at any time,
  /// so check before each use.
  func hasDisplay() async -> Bool

  /// Asks the browser to open the page, without waiting until it is open. Returns the reason why the page could not be
  /// opened, for the log, or `nil`.
  func open(_ url: String) async -> String?
}
