import HearthCore

/// Reads a token endpoint's answer: a grant, or why there is none. A pure function of the answer.
struct TokenResponseReader: Sendable {
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
  var issuer: UnspokenIssuer
  /// Who the user is where the answer does not tell.
  var fallbackSubject: Subject?
  var defaultLifetime: Duration?
  /// Error codes that end a session, besides the known ones.
  var finalErrors: Set<String> = []
  var rules: [ResponseRule] = []
  /// Knows every secret that was sent.
  var redactor: Redactor

  func read(_ answer: HTTPResponse) throws(RefreshFailure) -> TokenResponse {
    let document = ResponseDocument(answer)
    var redactor = redactor
    if let object = document.object { redactor.add(TokenLikeness.tokens(in: object, named: tokenFields)) }
    let isBackend = if case .json = dialect { true } else { false }
    let refusal = TokenRejection(
      answer: answer, words: ErrorWords(document.object), document: document, redactor: redactor,
      finalErrors: finalErrors, rules: rules, isBackend: isBackend)

    guard (200..<300).contains(answer.status) else { throw refusal.failure(of: origin) }
    guard !answer.isTruncated else { throw refusal.nonsense("an answer that is too long", from: origin) }
    guard let object = document.object else {
      let page = "a web page (is a sign-in page of the network in between?)"
      throw refusal.nonsense(refusal.isPage ? page : "no JSON", from: origin)
    }
    // A token in an answer is never thrown away for what else is in it.
    let grant = GrantFields(of: object, in: dialect)
    guard let accessToken = grant.accessToken else {
      throw refusal.isRefusalInDisguise
        ? refusal.failure(of: origin) : refusal.nonsense("no access token", from: origin)
    }
    guard TokenSyntax.isBearer(accessToken) else {
      throw refusal.nonsense("a token with characters that no token has", from: origin)
    }
    var response = response(from: grant, accessToken: accessToken, answer: answer)
    // Not thrown: the refresh token that came with it may have cost the one before.
    response.flaw = Self.unsupportedType(grant["token_type"]?.text).map {
      "\(origin) gives tokens of type \($0), which Hearth cannot use: let this client have Bearer tokens."
    }
    return response
  }

  private func response(from grant: GrantFields, accessToken: String, answer: HTTPResponse) -> TokenResponse {
    // What cannot be one beside a good access token is left out, as if it had not come.
    let idToken = grant["id_token"]?.text.flatMap { TokenSyntax.isBearer($0) ? $0 : nil }
    let refreshToken = grant.refreshToken.flatMap { TokenSyntax.isRefreshToken($0) ? $0 : nil }
    return TokenResponse(
      accessToken: Token(hashing: Secret(accessToken)),
      refreshToken: refreshToken.map { Token(hashing: Secret($0)) },
      idToken: idToken.map { Token(hashing: Secret($0)) },
      scope: scope(grant["scope"]),
      lifetime: Self.lifetime(grant.expiresIn) ?? Self.lifetime(of: accessToken, answer: answer) ?? defaultLifetime,
      idTokenLifetime: idToken.flatMap { Self.lifetime(of: $0, answer: answer) },
      refreshLifetime: refreshLifetime(grant),
      subject: subject(idToken: idToken, userID: grant["user_id"]?.text) ?? fallbackSubject,
      origin: origin,
      skew: answer.skew)
  }

  private func subject(idToken: String?, userID: String?) -> Subject? {
    if let claims = idToken.flatMap({ JWTClaims($0) }), let told = claims.subject(besides: issuer) { return told }
    return userID.map(issuer.subject)
  }

  /// A list of names too, as some write it.
  private func scope(_ value: JSONValue?) -> String? {
    if case .array(let names) = value { return names.compactMap(\.text).joined(separator: " ") }
    return value?.text
  }

  /// Keycloak and TikTok; GitHub, LinkedIn and Google; Intuit.
  private func refreshLifetime(_ grant: GrantFields) -> Duration? {
    ["refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in"].lazy
      .compactMap { Self.lifetime(grant[$0]) }.first
  }

  private var tokenFields: Set<String> {
    guard case .json(let backend) = dialect else { return [] }
    return Set([backend.accessTokenField, backend.refreshTokenField].compactMap { $0.path.last })
  }

  // MARK: - Values

  /// The type of a token that may not be sent as Bearer (RFC 6749, section 7.1; the registry of OAuth Access Token
  /// Types); nil for all other names, which are many: `bearer`, Apigee's `BearerToken`, Slack's `bot` and `user`.
  static func unsupportedType(_ text: String?) -> String? {
    let name = text?.lowercased().filter { !$0.isWhitespace }
    return ["DPoP", "PoP", "MAC", "N_A"].first { $0.lowercased() == name }
  }

  /// Seconds, as a number or a string; nil where that is no lifetime. A century is enough.
  static func lifetime(_ value: JSONValue?) -> Duration? {
    guard let seconds = value?.asNumber, seconds.isFinite, seconds > 0 else { return nil }
    return .milliseconds(Int64(min(seconds, 3_155_760_000) * 1000))
  }

  /// What a JWT says of itself: `exp` less the server's clock, else less this machine's. Not less `iat`, for the token
  /// may come from a cache; nil where that has passed.
  static func lifetime(of token: String, answer: HTTPResponse) -> Duration? {
    guard let expiresAt = JWTClaims(token)?.expiresAt else { return nil }
    return lifetime(.number(expiresAt - Double((answer.date ?? answer.receivedAt).milliseconds) / 1000))
  }
}
