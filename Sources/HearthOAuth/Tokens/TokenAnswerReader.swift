import HearthCore

/// Reads a token endpoint's answer: a grant, or why there is none. A pure function of the answer.
struct TokenAnswerReader: Sendable {
  enum Dialect: Sendable {
    /// RFC 6749, sections 5.1 and 5.2, and Google's error objects.
    case oauth
    /// The same, but that an ID token may stand alone.
    case firebase
    /// Fields of other names, perhaps nested.
    case json(JSONBackend)
  }

  var dialect: Dialect
  /// Of the token endpoint that answered.
  var origin: Origin
  /// Whose name stands beside a subject that is told without one.
  var issuer: String
  /// Who the user is where the answer does not tell.
  var fallbackSubject: Subject?
  var defaultLifetime: Duration?
  /// Knows every secret that was sent.
  var redactor: Redactor

  func read(_ answer: HTTPAnswer) throws(RefreshFailure) -> TokenResponse {
    let json = JSONValue(parsing: answer.body)
    var redactor = redactor
    if let json { redactor.add(tokens(in: json)) }
    var refusal = TokenRefusal(answer: answer, json: json, redactor: redactor)
    if case .json = dialect { refusal.isBackend = true }

    guard (200..<300).contains(answer.status) else { throw refusal.failure(of: origin) }
    guard !answer.isTruncated else { throw refusal.nonsense("an answer that is too long", from: origin) }
    guard let json, json.object != nil else {
      let found = answer.isPage ? "a web page (is a sign-in page of the network in between?)" : "no JSON"
      throw refusal.nonsense(found, from: origin)
    }
    if refusal.code != nil { throw refusal.failure(of: origin) }
    let grant = Fields(of: json, in: dialect)
    guard let accessToken = grant.accessToken else { throw refusal.nonsense("no access token", from: origin) }
    guard TokenSyntax.isBearer(accessToken), grant["id_token"]?.text.map(TokenSyntax.isBearer) ?? true,
      grant.refreshToken.map(TokenSyntax.isRefreshToken) ?? true
    else {
      throw refusal.nonsense("a token with characters that no token has", from: origin)
    }
    return response(from: grant, accessToken: accessToken, answer: answer)
  }

  private func response(from grant: Fields, accessToken: String, answer: HTTPAnswer) -> TokenResponse {
    let idToken = grant["id_token"]?.text
    return TokenResponse(
      accessToken: Token(hashing: Secret(accessToken)),
      refreshToken: grant.refreshToken.map { Token(hashing: Secret($0)) },
      idToken: idToken.map { Token(hashing: Secret($0)) },
      tokenType: Self.tokenType(grant["token_type"]?.text),
      scope: scope(grant["scope"]),
      lifetime: Self.lifetime(grant.expiresIn) ?? Self.lifetime(of: accessToken, answer: answer) ?? defaultLifetime,
      idTokenLifetime: idToken.flatMap { Self.lifetime(of: $0, answer: answer) },
      refreshLifetime: Self.lifetime(grant["refresh_expires_in"] ?? grant["refresh_token_expires_in"]),
      subject: subject(idToken: idToken, userID: grant["user_id"]?.text) ?? fallbackSubject,
      origin: origin,
      skew: answer.skew)
  }

  private func subject(idToken: String?, userID: String?) -> Subject? {
    if let claims = idToken.flatMap({ JWTClaims($0) }), let id = claims.subject {
      return Subject(issuer: claims.issuer ?? issuer, id: id)
    }
    return userID.map { Subject(issuer: issuer, id: $0) }
  }

  /// A list of names too, as some write it.
  private func scope(_ value: JSONValue?) -> String? {
    if case .array(let names) = value { return names.compactMap(\.text).joined(separator: " ") }
    return value?.text
  }

  // MARK: - Values

  /// `bearer` in any case is `Bearer`; so is what is no name of an authentication scheme.
  static func tokenType(_ text: String?) -> String {
    guard let text, text.lowercased() != "bearer", text.utf8.count <= 32,
      text.utf8.allSatisfy({ Unicode.Scalar($0).properties.isAlphabetic && $0 < 0x80 || $0 == UInt8(ascii: "-") })
    else { return "Bearer" }
    return text
  }

  /// Seconds, as a number or a string; nil where that is no lifetime. A century is enough.
  static func lifetime(_ value: JSONValue?) -> Duration? {
    guard let seconds = value?.asNumber, seconds.isFinite, seconds > 0 else { return nil }
    return .milliseconds(Int64(min(seconds, 3_155_760_000) * 1000))
  }

  /// What a JWT says of itself: `exp` less `iat`, else less the server's clock, else less this machine's.
  static func lifetime(of token: String, answer: HTTPAnswer) -> Duration? {
    guard let claims = JWTClaims(token), let expiresAt = claims.expiresAt else { return nil }
    let now = Double((answer.date ?? answer.receivedAt).milliseconds) / 1000
    return lifetime(.number(expiresAt - (claims.issuedAt ?? now)))
  }

  /// Whatever is named as a token, anywhere in the answer.
  private func tokens(in value: JSONValue) -> [Secret] {
    var names: Set = ["access_token", "refresh_token", "id_token", "accessToken", "refreshToken", "idToken"]
    if case .json(let backend) = dialect {
      names.formUnion([backend.accessTokenField, backend.refreshTokenField].compactMap { $0.path.last })
    }
    func search(_ value: JSONValue) -> [Secret] {
      switch value {
      case .null, .bool, .integer, .number, .string: []
      case .array(let values): values.flatMap(search)
      case .object(let members):
        members.flatMap { name, member in
          names.contains(name) ? member.text.map { [Secret($0)] } ?? search(member) : search(member)
        }
      }
    }
    return search(value)
  }
}

/// A grant's fields, by the names that the dialect gives them.
private struct Fields {
  let accessToken: String?
  let refreshToken: String?
  let expiresIn: JSONValue?
  /// The object in which the access token stands; the fields without a name of their own stand beside it.
  private let beside: JSONValue

  init(of answer: JSONValue, in dialect: TokenAnswerReader.Dialect) {
    switch dialect {
    case .oauth, .firebase:
      beside = answer
      let idToken = if case .firebase = dialect { answer["id_token"]?.text } else { String?.none }
      accessToken = answer["access_token"]?.text ?? idToken
      refreshToken = answer["refresh_token"]?.text
      expiresIn = answer["expires_in"]
    case .json(let backend):
      let beside = answer[backend.accessTokenField.path.dropLast()] ?? answer
      func find(_ field: String) -> JSONValue? {
        answer[field.path] ?? field.path.last.flatMap { beside[$0] }
      }
      self.beside = beside
      accessToken = answer[backend.accessTokenField.path]?.text
      refreshToken = find(backend.refreshTokenField)?.text
      expiresIn = find(backend.expiresInField)
    }
  }

  subscript(name: String) -> JSONValue? { beside[name] }
}

extension String {
  /// The parts of a field's name, between its dots.
  var path: [String] { split(separator: ".").map(String.init) }
}
