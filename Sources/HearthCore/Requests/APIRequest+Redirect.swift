extension APIRequest {
  /// The request that follows a redirect within the same origin (RFC 9110, section 15.4); nil where the response is none, or
  /// is the caller's to judge: it leads to another origin, or would have to change a write into a read unasked.
  package func redirected(by response: APIResponse) -> APIRequest? {
    guard let location = response.headers.first(where: { $0.name.lowercased() == "location" })?.value,
      let url = try? url.resolving(location), url.origin == self.url.origin
    else { return nil }
    var next = self
    next.url = url
    switch response.status {
    case 307, 308: return next
    case 301, 302: return isRead ? next : nil
    case 303:
      if isRead { return next }
      next.method = "GET"
      next.body = []
      next.upload = nil
      next.idempotencyKey = nil
      next.headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
      return next
    default: return nil
    }
  }

  private var isRead: Bool { method == "GET" || method == "HEAD" }

  /// RFC 9110, section 9.2.1: it changes nothing at the API.
  var isSafe: Bool { isRead || method == "OPTIONS" }
}
