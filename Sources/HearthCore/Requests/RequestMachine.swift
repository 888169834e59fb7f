/// Decides the course of one request of a caller: which token it is sent with, what a 401 means, which redirects are followed.
///
/// A 401 is reported to the session, which forces one refresh however many report it, and the request is sent again with the
/// token that there is then. Where the session ends by the next 401 there is no token any more, and the call fails. Where
/// others are answered 2xx with that same token, the 401 is about the request, and is its answer. One that asks for more than
/// a fresh token is reported to nobody.
package struct RequestMachine: Sendable {
  package enum Step: Hashable, Sendable {
    /// Get the account's token: `authorized(by:_:)`.
    case getBearer
    /// Get a token in place of the one that the API rejects: `authorized(by:_:)`.
    case replaceBearer(APIRejection)
    /// Send the request: `responded(_:_:acceptance:)`, or `unanswered(_:)`.
    case send(APIRequest, Bearer)
    case respond(APIResponse)
    case fail(RequestFailure)
  }

  /// How much of an answer is read, in bytes.
  package static let responseLimit = 4 << 20
  static let maxRedirects = 5
  /// With the token at hand, with one that another caller's report brought, and with one after a refresh of its own.
  static let maxRejections = 3

  private let original: APIRequest
  private var request: APIRequest
  /// The token that the request was sent with last.
  private var bearer: Bearer?
  /// The user it was sent for first, as soon as one is known.
  private var subject: Subject?
  private var redirects = 0
  private var rejections: [APIResponse] = []

  package init(_ request: APIRequest) {
    original = request
    self.request = request
  }

  /// `api`: the account's as it is configured now; nil where it is no more.
  package mutating func begin(_ api: APISettings?) -> Step {
    foreignOrigin(api) ?? .getBearer
  }

  private func foreignOrigin(_ api: APISettings?) -> Step? {
    let origin = request.url.origin
    return api?.origins.contains(origin) == true ? nil : .fail(.originNotAllowed(origin))
  }

  /// There is a token.
  package mutating func authorized(by bearer: Bearer, _ api: APISettings?) -> Step {
    if let step = foreignOrigin(api) { return step }
    if let subject, let other = bearer.subject, subject != other { return .fail(.otherUser) }
    if let last = rejections.last, rejections.count >= Self.maxRejections { return .respond(last) }
    subject = subject ?? bearer.subject
    self.bearer = bearer
    return .send(request, bearer)
  }

  /// The API answered. `acceptance`: which tokens the account's APIs answer 2xx to.
  package mutating func responded(
    _ response: APIResponse, _ api: APISettings?, acceptance: TokenAcceptance
  ) -> Step {
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
      let isAccepted = acceptance.isAccepted(bearer.token.fingerprint)
      if isAccepted, !rejections.isEmpty { return .respond(response) }
      rejections.append(response)
      return .replaceBearer(
        APIRejection(bearer.token.fingerprint, origin: request.url.origin, isAcceptedElsewhere: isAccepted))
    }
    if redirects < Self.maxRedirects, let next = request.redirected(by: response) {
      redirects += 1
      request = next
      // The session may be locked or signed out since.
      return .getBearer
    }
    return response.isTruncated ? .fail(.tooLong(limit: Self.responseLimit)) : .respond(response)
  }

  /// The answer that is given in pieces ended before its end.
  package static func brokenOff(_ failure: ExchangeFailure) -> RequestFailure {
    switch failure {
    case .notSent(let message), .unanswered(let message):
      .unanswered(message: message + ". What was given of the answer is only its beginning.")
    }
  }

  /// No answer came.
  package func unanswered(_ failure: ExchangeFailure) -> Step {
    let (message, fate) =
      switch failure {
      case .notSent(let message): (message, " The request was not sent.")
      case .unanswered(let message):
        (message, request.isSafe ? "" : " Nothing tells whether the API did what the request asks.")
      }
    // What was redirected may have been done before.
    let rest = redirects > 0 && !original.isSafe ? " The API had redirected it before." : fate
    return .fail(.unanswered(message: message + "." + rest))
  }
}
