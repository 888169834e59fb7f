/// Listens for the browser at the redirect address of a sign-in (RFC 8252, section 7.3).
package protocol RedirectListener: Sendable {
  /// Listens on the loopback address in `address` and, if possible, also on that of the other IP version. For
  /// `localhost`, throws if the other address exists but cannot be used.
  func listen(at address: RedirectAddress) async throws(SignInFailure) -> any OpenRedirect
}

/// An open listener on a loopback address.
package protocol OpenRedirect: Sendable {
  var port: Int { get }

  /// The incoming requests. Each one needs exactly one response.
  var requests: AsyncStream<ReceivedRedirect> { get }

  /// Stops listening, and closes each connection once its pending response has been sent.
  func close() async
}

/// A request, and a function that sends the page to show in the browser.
package typealias ReceivedRedirect = (request: RedirectRequest, respond: @Sendable (RedirectPage) -> Void)

package struct RedirectPage: Hashable, Sendable {
  package let status: Int
  package let html: String
  /// The value of `Content-Security-Policy`.
  package let policy: String
  /// The address to redirect the browser to (RFC 9110, section 10.2.2), or `nil` to show the page.
  package var location: String?

  package init(status: Int, html: String, policy: String) {
    (self.status, self.html, self.policy) = (status, html, policy)
  }
}
