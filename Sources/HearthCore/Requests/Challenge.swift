/// What an API wants beyond a fresh token: a stronger or newer sign-in (RFC 9470, section 3), claims in the token, as Entra
/// asks for them, or more scopes (RFC 6750, section 3.1).
///
/// It is no word on the session: the API knows the token, and another one of the same sign-in would fare no better.
package struct Challenge: Hashable, Sendable {
  /// The origin of the API that asks.
  package let origin: Origin
  package let error: String?
  /// `acr_values`: ways to sign in, with blanks between them, the best first.
  package let acrValues: String?
  /// `max_age`: how long ago the person may have signed in, in seconds.
  package let maxAge: Int?
  /// As the API wrote them: JSON, which Entra puts into Base64.
  package let claims: String?
  /// The scopes, with blanks between them.
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

  /// It is nil where the response asks for no more than a fresh token. `secrets`: are removed from what it says.
  package init?(_ response: APIResponse, from origin: Origin, without secrets: [Secret]) {
    guard response.status == 401 || response.status == 403 else { return nil }
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    let demand = fields.lazy.compactMap(Self.demand).first
    // A 403 is the API's last word but for this (RFC 6750, section 3.1).
    guard let demand, response.status == 401 || demand["error"] == Self.insufficientScope else { return nil }
    let redactor = Redactor(secrets)
    func text(_ name: String) -> String? { demand[name].map(redactor.redacted) }
    self.init(
      origin: origin, error: text("error"), acrValues: text("acr_values"),
      maxAge: demand["max_age"].flatMap { Int($0) }, claims: text("claims"), scope: text("scope"))
  }

  /// Whether a `WWW-Authenticate` field, or several that were joined by commas, asks for more than a fresh token.
  package static func isAsked(in field: String) -> Bool { demand(in: field) != nil }

  /// The parameters of the first challenge that asks for it.
  private static func demand(in field: String) -> [String: String]? {
    AuthenticationChallenges(field).parameters.first { parameters in
      let error = parameters["error"]
      return error == "insufficient_user_authentication" || error == insufficientScope
        || parameters["claims"]?.isEmpty == false
    }
  }

  /// For people: what was asked for, and what can be done.
  package var sentence: String {
    if error == Self.insufficientScope {
      let needed = scope.map { " (\($0.shown(limit: 200)))" } ?? ""
      return
        "\(origin) wants a scope that the token does not have\(needed): add it to the account's scopes, and sign in "
        + "again."
    }
    let why = error.map { " (\($0.shown(limit: 100)))" } ?? ""
    return "\(origin) wants a stronger or newer sign-in than this one\(why): sign in again as it asks."
  }
}

/// The challenges of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
///
/// It reads each byte once. What does not belong there is passed over, since many servers write the field by hand.
struct AuthenticationChallenges {
  /// The parameters of each challenge, in order, by their names in lower case. Of two with one name the first counts.
  private(set) var parameters: [[String: String]] = []

  private var rest: ArraySlice<UInt8>

  init(_ field: String) {
    rest = Array(field.utf8)[...]
    while let byte = rest.first {
      let word = take { $0.isTokenByte }
      if word.isEmpty {
        // A comma, or what stands in a token68, or a text of nobody's.
        if byte == UInt8(ascii: "\"") { _ = takeQuoted() } else { rest.removeFirst() }
        continue
      }
      skipBlanks()
      if rest.first != UInt8(ascii: "=") {
        // A scheme. What is no scheme may seem one: it has no parameters that anybody asks for.
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

  /// What stands in quotes, without its backslashes (RFC 9110, section 5.6.4). Without an end it takes what is left.
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
