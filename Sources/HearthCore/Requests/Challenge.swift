/// An API's demand for more than a fresh token: a stronger or more recent sign-in (RFC 9470, section 3), claims in the
/// token (Microsoft Entra), or more scopes (RFC 6750, section 3.1).
///
/// The session stays valid, because the API recognizes the token. Another token from the same sign-in would not help.
package struct Challenge: Hashable, Sendable {
  package let origin: Origin
  package let error: String?
  /// The acceptable authentication contexts (`acr_values`), separated by spaces, in order of preference.
  package let acrValues: String?
  /// The maximum age of the sign-in (`max_age`), in seconds.
  package let maxAge: Int?
  /// The claims as the API sent them (JSON, which Entra encodes in Base64), with secrets redacted.
  package let claims: String?
  /// The required scopes, separated by spaces.
  package let scope: String?

  package init(
    origin: Origin, error: String? = nil, acrValues: String? = nil, maxAge: Int? = nil, claims: String? = nil,
    scope: String? = nil
  ) {
    (self.origin, self.error, self.acrValues) = (origin, error, acrValues)
    (self.maxAge, self.claims, self.scope) = (maxAge, claims, scope)
  }

  private static let insufficientScope = "insufficient_scope"

  /// Reads the challenge from a response. Returns `nil` if the response does not ask for more than a fresh token.
  /// Redacts `secrets` in the parameters.
  package init?(_ response: APIResponse, from origin: Origin, without secrets: [Secret]) {
    guard response.status == 401 || response.status == 403 else { return nil }
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    let demand = fields.lazy.compactMap(Self.demand).first
    // A 403 for any other reason is not a challenge, because signing in again would not help (RFC 6750, section 3.1).
    guard let demand, response.status == 401 || demand["error"] == Self.insufficientScope else { return nil }
    let redactor = Redactor(secrets)
    func text(_ name: String) -> String? { demand[name].map(redactor.redacted) }
    self.init(
      origin: origin, error: text("error"), acrValues: text("acr_values"),
      maxAge: demand["max_age"].flatMap { Int($0) }, claims: text("claims"), scope: text("scope"))
  }

  /// Returns whether a `WWW-Authenticate` field asks for more than a fresh token. `field` can be several fields joined
  /// by commas.
  package static func isAsked(in field: String) -> Bool { demand(in: field) != nil }

  /// Returns the parameters of the first challenge that asks for more than a fresh token, or `nil` if no challenge asks
  /// for more.
  private static func demand(in field: String) -> [String: String]? {
    AuthenticationChallenges(field).parameters.first { parameters in
      let error = parameters["error"]
      return error == "insufficient_user_authentication" || error == insufficientScope
        || parameters["claims"]?.isEmpty == false
    }
  }

  /// A sentence that says what the API asks for and what the user can do.
  package var sentence: String {
    if error == Self.insufficientScope {
      let required = scope.map { " (required: \($0.shown(limit: 200)))" } ?? ""
      return
        "\(origin) requires scopes that the token does not have\(required). Add the missing ones to the account's "
        + "scopes and sign in again."
    }
    let why = error.map { " (\($0.shown(limit: 100)))" } ?? ""
    return "\(origin) requires a stronger or more recent sign-in\(why). Sign in again."
  }

  /// Returns the `error` code in the response's challenges (RFC 6750, section 3), or `nil` if there is none. Ignores
  /// codes that contain one of `secrets`.
  static func reason(_ response: APIResponse, without secrets: [Secret]) -> String? {
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    return fields.lazy.compactMap(reason(in:)).first { Redactor(secrets).redacted($0) == $0 }
  }

  /// Returns the `error` code in a `WWW-Authenticate` field, or `nil` if there is none. Ignores values that do not look
  /// like a code, because servers put all kinds of text there.
  package static func reason(in field: String) -> String? {
    let reasons = AuthenticationChallenges(field).parameters.compactMap { $0["error"] }
    return reasons.first { reason in
      (1...64).contains(reason.utf8.count)
        && reason.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
  }
}

/// The challenges in a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
///
/// The parser takes linear time. It skips anything unexpected, because many servers assemble the field by hand.
struct AuthenticationChallenges {
  /// The parameters of each challenge, with names in lower case. If a name is repeated, its first value counts.
  private(set) var parameters: [[String: String]] = []

  private var rest: ArraySlice<UInt8>

  init(_ field: String) {
    rest = Array(field.utf8)[...]
    while let byte = rest.first {
      let word = take { $0.isTokenByte }
      if word.isEmpty {
        // Skip a comma, a part of a token68, or a stray quoted string.
        if byte == UInt8(ascii: "\"") { _ = takeQuoted() } else { rest.removeFirst() }
        continue
      }
      skipBlanks()
      if rest.first != UInt8(ascii: "=") {
        // This is a scheme or other text that looks like a scheme. Other text has no parameters that matter, so it is
        // harmless.
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

  /// Consumes a quoted string and removes its backslashes (RFC 9110, section 5.6.4). An unclosed string extends to the
  /// end of the field.
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
