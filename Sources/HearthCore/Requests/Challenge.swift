/// What an API wants beyond a fresh token: a stronger or newer sign-in (RFC 9470, section 3), claims in the token,
/// which Entra asks for, or more scopes (RFC 6750, section 3.1).
///
/// The session is not over: the API knows the token, and another one of the same sign-in would not help.
package struct Challenge: Hashable, Sendable {
  /// The origin of the API that asks.
  package let origin: Origin
  package let error: String?
  /// `acr_values`: the accepted authentication contexts, separated by spaces, the best first.
  package let acrValues: String?
  /// `max_age`: the maximum age of the sign-in, in seconds.
  package let maxAge: Int?
  /// The claims as the API wrote them: JSON, which Entra encodes in Base64.
  package let claims: String?
  /// The scopes, separated by spaces.
  package let scope: String?

  package init(
    origin: Origin, error: String? = nil, acrValues: String? = nil, maxAge: Int? = nil, claims: String? = nil,
    scope: String? = nil
  ) {
    (self.origin, self.error, self.acrValues) = (origin, error, acrValues)
    (self.maxAge, self.claims, self.scope) = (maxAge, claims, scope)
  }
}

extension Challenge {
  private static let insufficientScope = "insufficient_scope"

  /// Returns `nil` if the response asks for no more than a fresh token. `secrets` are redacted from its parameters.
  package init?(_ response: APIResponse, from origin: Origin, without secrets: [Secret]) {
    guard response.status == 401 || response.status == 403 else { return nil }
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    let demand = fields.lazy.compactMap(Self.demand).first
    // Any other 403 is the API's final answer (RFC 6750, section 3.1).
    guard let demand, response.status == 401 || demand["error"] == Self.insufficientScope else { return nil }
    let redactor = Redactor(secrets)
    func text(_ name: String) -> String? { demand[name].map(redactor.redacted) }
    self.init(
      origin: origin, error: text("error"), acrValues: text("acr_values"),
      maxAge: demand["max_age"].flatMap { Int($0) }, claims: text("claims"), scope: text("scope"))
  }

  /// Whether a `WWW-Authenticate` field, or several that were joined by commas, asks for more than a fresh token.
  package static func isAsked(in field: String) -> Bool { demand(in: field) != nil }

  /// The reason that a `WWW-Authenticate` field gives for a 401: a code, or `nil` without one.
  package static func reason(in field: String) -> String? { AuthenticationChallenges.reason(in: field) }

  /// Returns the parameters of the first challenge that asks for more.
  private static func demand(in field: String) -> [String: String]? {
    AuthenticationChallenges(field).parameters.first { parameters in
      let error = parameters["error"]
      return error == "insufficient_user_authentication" || error == insufficientScope
        || parameters["claims"]?.isEmpty == false
    }
  }

  /// A sentence for people that says what the API asked for and what they can do.
  package var sentence: String {
    if error == Self.insufficientScope {
      let needed = scope.map { " (\($0.shown(limit: 200)))" } ?? ""
      return
        "\(origin) wants a scope that the token does not have\(needed): add it to the account's scopes, and sign in "
        + "again."
    }
    let why = error.map { " (\($0.shown(limit: 100)))" } ?? ""
    return "\(origin) wants a stronger or newer sign-in than this one\(why): sign in again."
  }
}

extension AuthenticationChallenges {
  /// The `error` that one of the response's challenges gives (RFC 6750, section 3), or `nil` without one.
  static func reason(_ response: APIResponse, without secrets: [Secret]) -> String? {
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    return fields.lazy.compactMap(reason(in:)).first { Redactor(secrets).redacted($0) == $0 }
  }

  /// The same for one field. Only text that looks like a code counts, since servers put anything there.
  static func reason(in field: String) -> String? {
    let reasons = AuthenticationChallenges(field).parameters.compactMap { $0["error"] }
    return reasons.first { reason in
      (1...64).contains(reason.utf8.count)
        && reason.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
  }
}

/// The challenges of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
///
/// It reads each byte once. It skips what does not belong there, since many servers compose the field by hand.
struct AuthenticationChallenges {
  /// The parameters of each challenge, in order, by their names in lower case. If a name comes twice, the first counts.
  private(set) var parameters: [[String: String]] = []

  private var rest: ArraySlice<UInt8>

  init(_ field: String) {
    rest = Array(field.utf8)[...]
    while let byte = rest.first {
      let word = take { $0.isTokenByte }
      if word.isEmpty {
        // A comma, a character of a token68, or a stray quoted text.
        if byte == UInt8(ascii: "\"") { _ = takeQuoted() } else { rest.removeFirst() }
        continue
      }
      skipBlanks()
      if rest.first != UInt8(ascii: "=") {
        // A scheme. Other text may look like one, but then has no parameters that anybody asks for.
        parameters.append([:])
        continue
      }
      rest.removeFirst()
      skipBlanks()
      let value = rest.first == UInt8(ascii: "\"") ? takeQuoted() : take { !$0.isBlank && $0 != UInt8(ascii: ",") }
      if parameters.isEmpty { parameters.append([:]) }
      let name = String(decoding: word, as: UTF8.self).lowercased()
      if parameters[parameters.count - 1][name] == nil {
        parameters[parameters.count - 1][name] = String(decoding: value, as: UTF8.self)
      }
    }
  }

  private mutating func take(while belongs: (UInt8) -> Bool) -> [UInt8] {
    let taken = Array(rest.prefix(while: belongs))
    rest = rest.dropFirst(taken.count)
    return taken
  }

  private mutating func skipBlanks() { rest = rest.drop(while: \.isBlank) }

  /// Takes a quoted string without its backslashes (RFC 9110, section 5.6.4), to the end if it is not closed.
  private mutating func takeQuoted() -> [UInt8] {
    rest.removeFirst()
    var text: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return text
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
