import HearthCore
import HearthHashing

/// Reads a token endpoint's response, which contains a grant or an error. Has no side effects.
struct TokenResponseReader: Sendable {
  enum Dialect: Sendable {
    /// OAuth (RFC 6749, sections 5.1 and 5.2), including Google's error objects.
    case oauth
    /// Like `oauth`, but an ID token without an access token is sufficient.
    case firebase
    /// The sign-in API for Firebase users (Identity Toolkit), with `idToken`, `refreshToken` and `expiresIn`.
    case identityToolkit
    /// Configured field names, which can refer to nested objects.
    case json(JSONBackend)
  }

  var dialect: Dialect
  var origin: Origin
  var issuer: DefaultIssuer
  /// The audiences whose ID tokens can name the subject. If empty, any audience is accepted.
  var audiences: Set<String> = []
  var defaultLifetime: Duration?
  /// Error codes that end a session, in addition to the standard ones.
  var finalErrors: Set<String> = []
  var rules: [ResponseRule] = []
  /// Masks all secrets that were sent.
  var redactor: Redactor

  func read(_ response: HTTPResponse) throws(RefreshFailure) -> TokenResponse {
    do {
      return try grant(in: response)
    } catch {
      throw error.failure(of: origin)
    }
  }

  /// Returns the object in a 2xx response, and the rejection to throw if the object contains no grant. Throws for other
  /// responses.
  func object(
    in response: HTTPResponse
  ) throws(TokenRejection) -> (object: JSONValue, rejection: TokenRejection) {
    let document = response.document
    var redactor = redactor
    if let object = document.object { redactor.add(TokenDetector.tokens(in: object, named: tokenFields)) }
    let isBackend = if case .json = dialect { true } else { false }
    let rejection = TokenRejection(
      response: response, error: ResponseError(document.object), document: document, redactor: redactor,
      finalErrors: finalErrors, rules: rules, isBackend: isBackend)
    guard (200..<300).contains(response.status) else { throw rejection }
    guard !response.isTruncated else { throw rejection.containing("a response of more than 1 MiB") }
    guard let object = document.object else {
      throw rejection.containing(rejection.isPage ? TokenRejection.page : response.kindWithoutJSON)
    }
    return (object, rejection)
  }

  /// Reads the grant in a response. Throws a rejection if there is none.
  func grant(in response: HTTPResponse) throws(TokenRejection) -> TokenResponse {
    let (object, rejection) = try object(in: response)
    // A problem with another field must not cause the loss of a token.
    let grant = GrantFields(of: object, in: dialect)
    guard let accessToken = grant.accessToken else {
      if case .identityToolkit = dialect, object["mfaPendingCredential"] != nil {
        throw rejection.containing("a request for a second factor, which Hearth cannot provide")
      }
      if rejection.hasError { throw rejection }
      return try refreshToken(in: grant, of: response, rejection.containing("no access token"))
    }
    guard accessToken.isBearerToken else {
      let found = rejection.containing("an access token that contains invalid characters")
      return try refreshToken(in: grant, of: response, found)
    }
    var result = tokens(from: grant, accessToken: accessToken, response: response)
    // Returned instead of thrown, so that the caller can store the refresh token, which may have replaced the previous
    // one.
    if let type = grant["token_type"] { result.error = fault(of: type, rejection) }
    return result
  }

  /// Returns the refresh token even without a usable access token, because the refresh token may have replaced the
  /// previous one.
  private func refreshToken(
    in grant: GrantFields, of response: HTTPResponse, _ rejection: TokenRejection
  ) throws(TokenRejection) -> TokenResponse {
    var result = tokens(from: grant, accessToken: "", response: response)
    guard result.refreshToken != nil else { throw rejection }
    result.error = rejection.failure(of: origin)
    return result
  }

  private func tokens(from grant: GrantFields, accessToken: String, response: HTTPResponse) -> TokenResponse {
    // Ignores a malformed ID token or refresh token, because the access token is still usable.
    let idToken = grant["id_token"]?.text.flatMap { $0.isBearerToken ? $0 : nil }
    let refreshToken = grant.refreshToken.flatMap { $0.isRefreshToken ? $0 : nil }
    return TokenResponse(
      accessToken: Token(hashing: Secret(accessToken)),
      refreshToken: refreshToken.map { Token(hashing: Secret($0)) },
      idToken: idToken.map { Token(hashing: Secret($0)) },
      scope: scope(grant["scope"]),
      lifetime: Self.lifetime(of: accessToken, in: grant, response) ?? defaultLifetime,
      idTokenLifetime: idToken.flatMap { Self.lifetime(of: $0, response: response) },
      refreshLifetime: refreshLifetime(grant, response),
      subject: subject(idToken: idToken, userID: grant["user_id"]?.name),
      origin: origin,
      skew: response.skew)
  }

  private func subject(idToken: String?, userID: String?) -> Subject? {
    if let claims = idToken.flatMap({ JWTClaims($0) }), claims.areFor(audiences),
      let named = claims.subject(default: issuer)
    {
      return named
    }
    return userID.flatMap { Subject.isName($0) ? issuer.subject($0) : nil }
  }

  /// Reads the scopes, which some providers send as an array instead of a string.
  private func scope(_ value: JSONValue?) -> String? {
    if case .array(let names) = value { return names.compactMap(\.text).joined(separator: " ") }
    return value?.text
  }

  /// Returns the refresh token's lifetime, if the response contains it. The first field is used by Keycloak and TikTok,
  /// the second by GitHub, LinkedIn and Google, and the third by Intuit.
  private func refreshLifetime(_ grant: GrantFields, _ response: HTTPResponse) -> Duration? {
    ["refresh_expires_in", "refresh_token_expires_in", "x_refresh_token_expires_in"].lazy
      .compactMap { Self.lifetime(meantBy: grant[$0], response) }.first
  }

  private var tokenFields: Set<String> {
    guard case .json(let backend) = dialect else { return [] }
    return Set([backend.accessTokenField, backend.refreshTokenField].compactMap { $0.path.last })
  }

  // MARK: - Values

  /// Returns why a token of this type cannot be used, or `nil` if it can. A type that is not a string makes the
  /// response malformed (RFC 6749, section 5.1), and a retry may succeed. In a response to a `json` account, such a
  /// field can mean anything, so it is ignored.
  private func fault(of type: JSONValue, _ rejection: TokenRejection) -> RefreshFailure? {
    // Some providers send an empty type, and serializers write null for a missing value.
    if type == .string("") || type == .null { return nil }
    guard let name = type.text else {
      if case .json = dialect { return nil }
      return rejection.containing("a token_type that is not a string").failure(of: origin)
    }
    if isBearer(name) { return nil }
    let shown = rejection.redactor.line(name, limit: 40)
    return .misconfigured(
      message:
        "\(origin) issues tokens of type \(shown), which Hearth cannot use. Configure this client for Bearer tokens."
    )
  }

  /// Returns whether to send tokens of this type as Bearer tokens. A client must not use types that it does not
  /// understand (RFC 6749, section 7.1). For `json` accounts, no standard defines this field, so Hearth rejects only
  /// known types that cannot be sent as Bearer tokens.
  private func isBearer(_ type: String) -> Bool {
    let name = type.lowercased().filter { !$0.isWhitespace }
    return switch dialect {
    case .oauth, .firebase, .identityToolkit: Self.bearerTypes.contains(name)
    case .json: !["dpop", "pop", "mac", "n_a"].contains(name)
    }
  }

  /// Spellings of the type "bearer". Apigee sends `BearerToken`, Slack sends the token's owner, eBay sends `User Access
  /// Token` and `Application Access Token`, and other providers send the token's format or an empty string.
  private static let bearerTypes: Set = [
    "bearer", "bearertoken", "bot", "user", "jwt", "", "useraccesstoken", "applicationaccesstoken",
  ]
}

extension HTTPResponse {
  /// The object in a token endpoint's response, if any. Some old providers send a form instead of JSON.
  fileprivate var document: (object: JSONValue?, isForm: Bool) {
    let json = JSONValue(parsing: body)
    let type = header("Content-Type")?.lowercased() ?? ""
    guard json == nil, type.hasPrefix("application/x-www-form-urlencoded"), let fields = FormBody.decode(body) else {
      return (json?.object == nil ? nil : json, false)
    }
    // If a field is repeated, it is unclear which value counts, so all of them are ignored.
    let members = Dictionary(fields.map { ($0.0, JSONValue?.some(.string($0.1))) }) { _, _ in nil }
    return (.object(members.compactMapValues(\.self)), true)
  }
}
