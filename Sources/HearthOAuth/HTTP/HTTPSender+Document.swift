import HearthCore

extension HTTPSender {
  private static let maxRedirects = 5

  /// Requests a document that a provider publishes, such as its keys, and follows redirects to any server (RFC 9110,
  /// section 15.4). This is safe because the requests contain no secrets, no other origin receives the client
  /// certificate, and the caller checks the document as if it came from `url`. `timeout` applies to all requests
  /// together. Messages about the server or the connection start with `failure`. `place` is the document's URL and the
  /// last redirect that led to it, for messages.
  func document(
    at url: HTTPURL, over route: HTTPRoute, files: any FileSystem, timeout: Duration, failure: String
  ) async throws(RefreshFailure) -> (response: HTTPResponse, place: String) {
    let deadline = clock.steadyNow() + timeout
    var (here, route, trail) = (url, route, "")
    for _ in 0...Self.maxRedirects {
      let plan = try await route.plan(for: here, files: files)
      let response: HTTPResponse
      do {
        response = try await send(
          Request(url: here, headers: [.acceptJSON], plan: plan), timeout: max(deadline - clock.steadyNow(), .zero))
      } catch {
        // A lost response is unavailable, not unanswered, because only a request with side effects must be repeated
        // immediately.
        switch error {
        case .notSent(let message):
          throw .unreachable(message: "\(failure): no connection to \(message)\(trail).")
        case .unanswered(let message):
          throw .unavailable(message: "\(failure): no response from \(message)\(trail).", retryAfter: nil)
        }
      }
      guard let next = try response.redirect(from: here, failure) else {
        return (response, here.description.withoutSecrets + trail)
      }
      trail = " (HTTP \(response.status) from \(here.description.withoutSecrets) redirects there)"
      here = next
      if here.origin != url.origin { route.identity = nil }
    }
    throw .unavailable(
      message: "\(failure): \(url) redirects too many times, finally to \(here.description.withoutSecrets).",
      retryAfter: nil)
  }
}

extension HTTPResponse {
  private static let redirects: Set = [301, 302, 303, 307, 308]

  /// Returns the target of a redirect, or `nil` for other responses. Throws if the target is missing or invalid, or if
  /// the redirect leads from https to http.
  func redirect(from url: HTTPURL, _ failure: String) throws(RefreshFailure) -> HTTPURL? {
    guard Self.redirects.contains(status) else { return nil }
    let location = header("Location")?.fieldValue ?? ""
    let reason: String
    do {
      let target = try url.resolving(location)
      let isSafe = target.origin.scheme == "https" || url.origin.scheme == "http"
      if isSafe, !location.isEmpty { return target }
      reason = isSafe ? "its Location header is missing" : "it leads from https to http"
    } catch {
      reason = "\(error)"
    }
    let shown = Redactor(EmptyCollection<Secret>()).line(location.withoutSecrets)
    let target = shown.isEmpty ? "" : " redirects to \(shown)"
    throw .unavailable(
      message: "\(failure): HTTP \(status) from \(url.description.withoutSecrets)\(target), which Hearth does not "
        + "follow: \(reason).", retryAfter: retryAfter)
  }
}
