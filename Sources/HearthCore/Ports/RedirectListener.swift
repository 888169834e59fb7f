/// Listens where a provider sends the browser back to (RFC 8252, section 7.3).
package protocol RedirectListener: Sendable {
  /// Listens on both loopback addresses, as far as this machine has them.
  func listen(at address: RedirectAddress) async throws(SignInFailure) -> any OpenRedirect
}

/// A loopback address that is listened on.
package protocol OpenRedirect: Sendable {
  var port: Int { get }

  /// Each is to be answered once.
  var requests: AsyncStream<ReceivedRedirect> { get }

  /// Answers that were given are sent first.
  func close() async
}

package struct ReceivedRedirect: Sendable {
  package let request: RedirectRequest
  /// Sends the page that the browser shows.
  package let respond: @Sendable (RedirectPage) -> Void

  package init(_ request: RedirectRequest, respond: @escaping @Sendable (RedirectPage) -> Void) {
    self.request = request
    self.respond = respond
  }
}

/// A page for the browser.
package struct RedirectPage: Hashable, Sendable {
  /// The status code of HTTP.
  package let status: Int
  package let html: String
  /// The value of `Content-Security-Policy`.
  package let policy: String

  package init(status: Int, html: String, policy: String) {
    self.status = status
    self.html = html
    self.policy = policy
  }
}
