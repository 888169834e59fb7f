/// Decides the steps of a caller's request: which token to use, what a 401 means, and which redirects to follow.
///
/// After a 401, the machine asks the session for a new token and sends the request again. The session refreshes only
/// once, even if many requests report a 401 for the same token. If the session ends after the next 401, the request
/// fails. If the session keeps the token, the 401 concerns only this request, and the caller gets it as the response.
///
/// The machine does not report a 401 with a challenge to the session, because another token from the same sign-in would
/// not help.
package struct RequestMachine: Sendable {
  package enum Step: Hashable, Sendable {
    /// Get the account's token, then call `authorized(by:_:)`.
    case getBearer
    /// Get a replacement for a rejected token, then call `authorized(by:_:)`.
    case replaceBearer(APIRejection)
    /// Send the request, then call `responded(_:_:)` or `unanswered(_:)`.
    case send(APIRequest, Bearer)
    case respond(APIResponse)
    case fail(Failure)
  }

  /// The maximum size of a response, in bytes.
  package static let responseLimit = 4 << 20
  static let maxRedirects = 5
  /// The maximum number of 401s for one request: one for the current token, one for a replacement that another caller
  /// has already obtained, and one for the replacement that this request obtains.
  static let maxRejections = 3

  private let account: AccountName
  private let original: APIRequest
  private var request: APIRequest
  /// The token that the request was last sent with.
  private var bearer: Bearer?
  /// The user for whom the request was first sent, or `nil` if unknown.
  private var subject: Subject?
  private var redirects = 0
  private var rejections: [(token: Fingerprint, response: APIResponse)] = []

  package init(_ request: APIRequest, of account: AccountName) {
    (self.account, original) = (account, request)
    self.request = request
  }

  /// Starts the request. `api` is the account's current configuration, or `nil` if the account was removed.
  package mutating func begin(_ api: APISettings?) -> Step { refusal(api).map(Step.fail) ?? .getBearer }

  private func refusal(_ api: APISettings?) -> Failure? { .refusing(request.url.origin, of: account, by: api) }

  package mutating func authorized(by bearer: Bearer, _ api: APISettings?) -> Step {
    if let refusal = refusal(api) { return .fail(refusal) }
    if let subject, let other = bearer.subject, subject != other { return .fail(.otherUser(account)) }
    if let last = rejections.last,
      rejections.count >= Self.maxRejections || last.token == bearer.token.fingerprint
    {
      return .respond(last.response)
    }
    subject = subject ?? bearer.subject
    self.bearer = bearer
    return .send(request, bearer)
  }

  package mutating func responded(_ response: APIResponse, _ api: APISettings?) -> Step {
    if DeliveryPolicy.meansOffline(response) {
      return unanswered(
        .notSent(message: "A proxy or a captive portal requires a sign-in before the API can be reached"))
    }
    // The API itself may have sent the page, so it is unknown whether the request took effect.
    if DeliveryPolicy.isPageForJSON(response, to: request, expecting: api?.expect) {
      return unanswered(
        .unanswered(message: "The server returned HTTP \(response.status) with a web page instead of JSON"))
    }
    if let challenge = Challenge(response, from: request.url.origin, without: bearer?.secrets ?? []) {
      return .fail(.challenge(challenge, account))
    }
    if response.status == 401, let bearer {
      rejections.append((bearer.token.fingerprint, response))
      return .replaceBearer(
        APIRejection(
          bearer.token.fingerprint, at: request.url,
          reason: Challenge.reason(response, without: bearer.secrets)))
    }
    if redirects < Self.maxRedirects, let next = request.redirected(by: response) {
      redirects += 1
      request = next
      // The user may have locked the session or signed out in the meantime, so get the token again.
      return .getBearer
    }
    guard response.isTruncated else { return .respond(response) }
    return .fail(
      Failure(
        .requestFailed,
        "The request was sent, but its response is longer than \(Self.responseLimit >> 20) MiB, the most that Hearth "
          + "returns. Request it in parts (with Range, or the API's pages).", account: account, isRetryable: false))
  }

  package func unanswered(_ failure: ExchangeFailure) -> Step {
    let fate =
      switch failure {
      case .notSent: " The request was not sent."
      case .unanswered: request.isSafe ? "" : " It is unknown whether the request took effect."
      }
    // The API may have processed the request before redirecting it, so do not say that the request was not sent.
    let rest = redirects > 0 && !original.isSafe ? " The API had already redirected the request." : fate
    return .fail(Failure(.requestFailed, failure.message + "." + rest, account: account))
  }
}

extension APIRequest {
  /// Returns the request that follows a redirect to the same origin (RFC 9110, section 15.4). Returns `nil` if the
  /// response is not a redirect, or if the caller has to decide. The caller decides if the redirect leads to another
  /// origin, or if it is a 301 or 302 for a request other than GET or HEAD.
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

  /// Whether the method is safe (RFC 9110, section 9.2.1).
  var isSafe: Bool { isRead || method == "OPTIONS" }
}
