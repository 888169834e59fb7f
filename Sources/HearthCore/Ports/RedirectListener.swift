/// Listens at the address that a provider redirects the browser to (RFC 8252, section 7.3).
package protocol RedirectListener: Sendable {
  /// Listens on both loopback addresses, if this machine has them.
  func listen(at address: RedirectAddress) async throws(SignInFailure) -> any OpenRedirect
}

/// A loopback address with an open listener.
package protocol OpenRedirect: Sendable {
  var port: Int { get }

  /// The requests that arrive. Each has to be answered once.
  var requests: AsyncStream<ReceivedRedirect> { get }

  /// Closes the listener after sending the answers that were given.
  func close() async
}

package struct ReceivedRedirect: Sendable {
  package let request: RedirectRequest
  /// Sends the page that the browser shows.
  package let respond: @Sendable (RedirectPage) -> Void

  package init(_ request: RedirectRequest, respond: @escaping @Sendable (RedirectPage) -> Void) {
    (self.request, self.respond) = (request, respond)
  }
}

/// A page for the browser.
package struct RedirectPage: Hashable, Sendable {
  /// The HTTP status code.
  package let status: Int
  package let html: String
  /// The value of `Content-Security-Policy`.
  package let policy: String
  /// Where the browser is redirected (RFC 9110, section 10.2.2), or `nil` if it stays.
  package var location: String?

  package init(status: Int, html: String, policy: String) {
    (self.status, self.html, self.policy) = (status, html, policy)
  }
}
