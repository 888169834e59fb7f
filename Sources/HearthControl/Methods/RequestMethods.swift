package import HearthCore

package struct SendRequest: ControlMethod {
  package static let declaration = MethodDeclaration<RequestAnswer>(
    "http.request", "Send a request to an API with the account's token, and return the response.",
    errors: [
      .unauthenticated, .reauthRequired, .locked, .refreshUnavailable, .unknownAccount, .originNotAllowed,
      .requestFailed, .challenge,
    ])
  package static let parameters = Fields<SendRequest>(
    .all(\.draft, RequestDraft.fields), .optional("cache", \.cache, .choice, omitting: .none), make: Self.init)

  package let draft: RequestDraft
  package let cache: RequestCache

  package init(_ draft: RequestDraft, cache: RequestCache = .none) {
    (self.draft, self.cache) = (draft, cache)
  }
}

extension RequestDraft {
  /// The range of timeouts that callers may set for an API, in seconds.
  package static let timeouts = 1...300

  fileprivate static let fields = Fields<RequestDraft>(
    .all({ @Sendable in $0 }, target), .body(\.body),
    .optional("timeoutSeconds", \.timeout, .seconds(in: timeouts), default: usualTimeout),
    make: { $0.with($1, timeout: $2) })

  func with(_ body: [UInt8] = [], timeout: Duration) -> RequestDraft {
    var draft = self
    (draft.body, draft.timeout) = (body, timeout)
    return draft
  }

  /// The account and the request, without the body.
  static let target = Fields<RequestDraft>(
    .required("account", \.account, .account), .required("method", \.method, .text), .required("url", \.url, .text),
    .optional("headers", \.headers, .headers, omitting: []),
    make: { RequestDraft(account: $0, method: $1, url: $2, headers: $3) })
}

/// An API's answer to a request. The status may be an error status.
package struct RequestAnswer: TimelessWireValue {
  package static let fields = Fields<RequestAnswer>(
    .required("status", \.status, .int), .required("headers", \.headers, .headers),
    .body(\.body, omitsEmpty: false, isText: \.isPlainText), .required("fromCache", \.isFromCache, .bool),
    .optional("ageSeconds", \.age, .seconds()), .omittable("sessionState", \.sessionState, .text), make: Self.init)

  package let status: Int
  /// The header fields, in the order received, except that fields with the same name are grouped.
  package let headers: [APIRequest.Header]
  package let body: [UInt8]
  package let isFromCache: Bool
  /// The age of the cached response in whole seconds, or `nil` if the API answered this request.
  package let age: Duration?
  /// `reauthRequired` if the response is cached and its user has to sign in again, otherwise `nil`.
  package let sessionState: String?
}

extension RequestAnswer {
  /// Creates an answer. `age` is the age of a cached response, or `nil` if the API answered.
  package init(_ response: APIResponse, age: Duration? = nil, sessionState: String? = nil) {
    self.init(
      status: response.status, headers: response.headers, body: response.body, isFromCache: age != nil, age: age,
      sessionState: sessionState)
  }
}

extension String {
  /// Whether the text contains no ASCII control characters other than white space. Other control characters need up to
  /// six bytes each in JSON, so text that contains any is sent as Base64.
  fileprivate var isPlainText: Bool {
    utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
  }
}

/// The value of `data.challenge` in error 1008.
extension Challenge: TimelessWireValue {
  package static let fields = Fields<Challenge>(
    .required("origin", \.origin, .origin), .optional("error", \.error, .text),
    .optional("acrValues", \.acrValues, .text), .optional("maxAge", \.maxAge, .int),
    .optional("claims", \.claims, .text), .optional("scope", \.scope, .text),
    make: { Challenge(origin: $0, error: $1, acrValues: $2, maxAge: $3, claims: $4, scope: $5) })
}

extension WireType<Origin> {
  fileprivate static var origin: WireType {
    WireType<String>.text.mapped("must be an origin", to: { try? Origin(ofServer: $0) }, from: \.description)
  }
}
