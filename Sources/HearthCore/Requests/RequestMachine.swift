/// Decides the course of one caller's request: its token, what a 401 means, and which redirects are followed.
///
/// A 401 is reported to the session, which forces one refresh however many callers report it, and the request is sent
/// again with the token that follows. If the session ends at the next 401, there is no token any more and the call
/// fails. If the session keeps the token, the 401 is about the request and becomes its answer. A 401 that asks for more
/// than a fresh token is not reported.
package struct RequestMachine: Sendable {
  package enum Step: Hashable, Sendable {
    /// Get the account's token, then call `authorized(by:_:)`.
    case getBearer
    /// Get a token to replace the one that the API rejects, then call `authorized(by:_:)`.
    case replaceBearer(APIRejection)
    /// Send the request, then call `responded(_:_:)` or `unanswered(_:)`.
    case send(APIRequest, Bearer)
    case respond(APIResponse)
    case fail(RequestFailure)
  }

  /// The maximum number of bytes that are read of an answer.
  package static let responseLimit = 4 << 20
  static let maxRedirects = 5
  /// One for the token at hand, one for a token that another caller's report brought, and one after its own refresh.
  static let maxRejections = 3

  private let original: APIRequest
  private var request: APIRequest
  /// The token that the request was sent with last.
  private var bearer: Bearer?
  /// The user that the request was first sent for, once one is known.
  private var subject: Subject?
  private var redirects = 0
  private var rejections: [(token: Fingerprint, response: APIResponse)] = []

  package init(_ request: APIRequest) {
    original = request
    self.request = request
  }

  /// `api` is the account's current configuration, or `nil` if it is no longer configured.
  package mutating func begin(_ api: APISettings?) -> Step { foreignOrigin(api) ?? .getBearer }

  private func foreignOrigin(_ api: APISettings?) -> Step? {
    let origin = request.url.origin
    return api?.origins.contains(origin) == true ? nil : .fail(.originNotAllowed(origin))
  }

  /// Called with a token.
  package mutating func authorized(by bearer: Bearer, _ api: APISettings?) -> Step {
    if let step = foreignOrigin(api) { return step }
    if let subject, let other = bearer.subject, subject != other { return .fail(.otherUser) }
    if let last = rejections.last,
      rejections.count >= Self.maxRejections || last.token == bearer.token.fingerprint
    {
      return .respond(last.response)
    }
    subject = subject ?? bearer.subject
    self.bearer = bearer
    return .send(request, bearer)
  }

  /// Called with the API's response.
  package mutating func responded(_ response: APIResponse, _ api: APISettings?) -> Step {
    if DeliveryPolicy.meansOffline(response)
      || DeliveryPolicy.isPageForJSON(response, to: request, expecting: api?.expect)
    {
      return unanswered(
        .notSent(message: "A proxy or a captive portal asks for a sign-in before the API can be reached"))
    }
    if let challenge = Challenge(response, from: request.url.origin, without: bearer?.secrets ?? []) {
      return .fail(.challenge(challenge))
    }
    if response.status == 401, let bearer {
      rejections.append((bearer.token.fingerprint, response))
      return .replaceBearer(
        APIRejection(
          bearer.token.fingerprint, at: request.url,
          reason: AuthenticationChallenges.reason(response, without: bearer.secrets)))
    }
    if redirects < Self.maxRedirects, let next = request.redirected(by: response) {
      redirects += 1
      request = next
      // The session may have been locked or signed out since.
      return .getBearer
    }
    return response.isTruncated ? .fail(.tooLong(limit: Self.responseLimit)) : .respond(response)
  }

  /// The failure of an answer that broke off while it was read in pieces.
  package static func brokenOff(_ failure: ExchangeFailure) -> RequestFailure {
    switch failure {
    case .notSent(let message), .unanswered(let message):
      .unanswered(message: message + ". Only the beginning of the answer was received.")
    }
  }

  /// Called when no answer came.
  package func unanswered(_ failure: ExchangeFailure) -> Step {
    let (message, fate) =
      switch failure {
      case .notSent(let message): (message, " The request was not sent.")
      case .unanswered(let message):
        (message, request.isSafe ? "" : " It is not known whether the API did what the request asked.")
      }
    // The API may have carried out the request before redirecting it.
    let rest = redirects > 0 && !original.isSafe ? " The API had redirected it before." : fate
    return .fail(.unanswered(message: message + "." + rest))
  }
}

extension APIRequest {
  /// The request that follows a redirect within the same origin (RFC 9110, section 15.4). `nil` if the response is not
  /// a redirect, or if the caller has to decide: it leads to another origin, or would change a write into a read.
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

  /// Whether the method changes nothing at the API (RFC 9110, section 9.2.1).
  var isSafe: Bool { isRead || method == "OPTIONS" }
}
