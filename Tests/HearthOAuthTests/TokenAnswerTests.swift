import FoundationEssentials
import HearthCore
import Testing

@testable import HearthOAuth

/// A JWT of these claims; its signature is nobody's.
func jwt(_ claims: String) -> String {
  func encode(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
  return encode(#"{"alg":"RS256"}"#) + "." + encode(claims) + ".c2lnbmF0dXJl"
}

/// What became of an answer, without its message.
enum Outcome: Equatable {
  case granted
  case unavailable
  case rejected
  case disabled
  case unclear
  case misconfigured
  case unanswered

  init(_ failure: RefreshFailure) {
    self =
      switch failure {
      case .unreachable, .unavailable: .unavailable
      case .unanswered: .unanswered
      case .rejected(.refreshToken, _): .rejected
      case .rejected(.accountDisabled, _): .disabled
      case .unclear: .unclear
      case .misconfigured: .misconfigured
      }
  }
}

struct AnswerFact: CustomTestStringConvertible, Sendable {
  let fact: String
  let status: Int
  let body: String
  var type = "application/json"
  var isJSONAccount = false
  let expected: Outcome

  init(
    _ fact: String, _ status: Int, _ body: String, type: String = "application/json", json: Bool = false,
    _ expected: Outcome
  ) {
    (self.fact, self.status, self.body, self.type) = (fact, status, body, type)
    (self.isJSONAccount, self.expected) = (json, expected)
  }

  var testDescription: String { fact }
}

let oauthURL = "https://id.example.com/token"

func origin(_ text: String = oauthURL) -> Origin {
  guard let url = try? HTTPURL(text) else { preconditionFailure("the test's own URL is none") }
  return url.origin
}

@Suite("Reading a token endpoint's answer")
struct TokenAnswerTests {
  private let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? .distantFuture

  private func backend(_ change: (inout JSONBackend) -> Void = { _ in }) throws -> JSONBackend {
    var backend = JSONBackend(refreshURL: try HTTPURL("https://id.example.com/auth/refresh"))
    change(&backend)
    return backend
  }

  private func reader(_ dialect: TokenAnswerReader.Dialect = .oauth, secrets: [String] = []) -> TokenAnswerReader {
    TokenAnswerReader(
      dialect: dialect, origin: origin(), issuer: "https://id.example.com",
      redactor: Redactor(secrets.map { Secret($0) }))
  }

  private func answer(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> HTTPAnswer {
    HTTPAnswer(
      status: status, headers: headers.map { APIRequest.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8),
      receivedAt: now)
  }

  private func failure(_ answer: HTTPAnswer, _ reader: TokenAnswerReader) -> RefreshFailure? {
    do throws(RefreshFailure) {
      _ = try reader.read(answer)
      return nil
    } catch {
      return error
    }
  }

  // MARK: - Refusals

  static let page = "<!DOCTYPE html><html><body>Welcome to the hotel</body></html>"

  static let facts: [AnswerFact] = [
    AnswerFact("an access token is a grant", 200, #"{"access_token":"t"}"#, .granted),
    AnswerFact("201 is a grant too", 201, #"{"access_token":"t"}"#, .granted),
    AnswerFact("a null error beside a token is none", 200, #"{"access_token":"t","error":null}"#, .granted),
    AnswerFact("an ID token alone is no grant", 200, #"{"id_token":"t","refresh_token":"r"}"#, .unavailable),
    AnswerFact("an access token with a line's end is none", 200, #"{"access_token":"t\r\nX: y"}"#, .unavailable),
    AnswerFact("an access token with a space is none", 200, #"{"access_token":"t x"}"#, .unavailable),
    // Final.
    AnswerFact("invalid_grant is final", 400, #"{"error":"invalid_grant"}"#, .rejected),
    AnswerFact("invalid_grant is final with 403 too", 403, #"{"error":"invalid_grant"}"#, .rejected),
    AnswerFact("invalid_grant is final with 401 too", 401, #"{"error":"invalid_grant"}"#, .rejected),
    AnswerFact("interaction_required is final", 400, #"{"error":"interaction_required"}"#, .rejected),
    AnswerFact("login_required is final", 400, #"{"error":"login_required"}"#, .rejected),
    AnswerFact("consent_required is final", 400, #"{"error":"consent_required"}"#, .rejected),
    AnswerFact("token_expired is final", 400, #"{"error":"token_expired"}"#, .rejected),
    AnswerFact("bad_refresh_token in a 200 is final", 200, #"{"error":"bad_refresh_token"}"#, .rejected),
    AnswerFact(
      "invalid_refresh_token in a 200 is final", 200, #"{"ok":false,"error":"invalid_refresh_token"}"#, .rejected),
    AnswerFact(
      "a Firebase token that has expired is final", 400,
      #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#, .rejected),
    AnswerFact(
      "an invalid Firebase refresh token is final", 400,
      #"{"error":{"code":400,"message":"INVALID_REFRESH_TOKEN","status":"INVALID_ARGUMENT"}}"#, .rejected),
    AnswerFact(
      "a disabled Firebase user's account is disabled", 400,
      #"{"error":{"code":400,"message":"USER_DISABLED","status":"INVALID_ARGUMENT"}}"#, .disabled),
    AnswerFact(
      "a Firebase user who is gone is disabled", 400,
      #"{"error":{"code":400,"message":"USER_NOT_FOUND : gone","status":"INVALID_ARGUMENT"}}"#, .disabled),
    AnswerFact("account_disabled is said so", 400, #"{"error":"account_disabled"}"#, .disabled),
    AnswerFact("user_disabled is said so", 403, #"{"error":"user_disabled"}"#, .disabled),
    AnswerFact("a json account's 401 is final", 401, "", json: true, .rejected),
    AnswerFact("a json account's 403 is final", 403, #"{"message":"no"}"#, json: true, .rejected),
    AnswerFact(
      "a json account's 403 may name a disabled account", 403, #"{"error":"user_disabled"}"#, json: true, .disabled),
    // For a person to mend.
    AnswerFact("invalid_client is the configuration's", 401, #"{"error":"invalid_client"}"#, .misconfigured),
    AnswerFact("invalid_client is so with 400 too", 400, #"{"error":"invalid_client"}"#, .misconfigured),
    AnswerFact("unauthorized_client is the configuration's", 400, #"{"error":"unauthorized_client"}"#, .misconfigured),
    AnswerFact(
      "unsupported_grant_type is the configuration's", 400, #"{"error":"unsupported_grant_type"}"#, .misconfigured),
    AnswerFact("invalid_scope is the configuration's", 400, #"{"error":"invalid_scope"}"#, .misconfigured),
    AnswerFact("404 is the configuration's", 404, "", .misconfigured),
    AnswerFact("404 with a page is so too", 404, page, type: "text/html", .misconfigured),
    AnswerFact("405 is the configuration's", 405, "Method Not Allowed", type: "text/plain", .misconfigured),
    AnswerFact(
      "a wrong Firebase key is the configuration's", 400,
      #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
      .misconfigured),
    // Final only when said again.
    AnswerFact("an empty 400 is unclear", 400, "", .unclear),
    AnswerFact("a 400 with text is unclear", 400, "Bad Request", type: "text/plain", .unclear),
    AnswerFact("a 400 with JSON that names no error is unclear", 400, #"{"message":"no"}"#, .unclear),
    AnswerFact(
      "a json account's own error code is unclear", 400, #"{"error":"Session not found"}"#, json: true, .unclear),
    // Never final.
    AnswerFact("a 401 that says nothing is not final", 401, "", .unavailable),
    AnswerFact("a 403 that says nothing is not final", 403, "", .unavailable),
    AnswerFact("a json account's 403 with a page is not final", 403, page, json: true, .unavailable),
    AnswerFact("temporarily_unavailable is not final", 400, #"{"error":"temporarily_unavailable"}"#, .unavailable),
    AnswerFact("an error that nobody knows is not final", 400, #"{"error":"brand_new_error"}"#, .unavailable),
    AnswerFact("408 is not final", 408, "", .unavailable),
    AnswerFact("429 is not final", 429, #"{"error":"invalid_grant"}"#, .unavailable),
    AnswerFact("407 is not final", 407, "", .unavailable),
    AnswerFact("500 is not final", 500, "", .unavailable),
    AnswerFact(
      "invalid_grant from a server that is broken is not final", 500, #"{"error":"invalid_grant"}"#, .unavailable),
    AnswerFact("502 with a page is not final", 502, page, type: "text/html", .unavailable),
    AnswerFact("503 is not final", 503, "", .unavailable),
    AnswerFact("a portal's page with 200 is not final", 200, page, type: "text/html", .unavailable),
    AnswerFact("a page that says it is JSON is not final", 400, page, .unavailable),
    AnswerFact("a page with 400 is not final", 400, "Bad Request", type: "text/html; charset=utf-8", .unavailable),
    AnswerFact("a redirect is not final", 302, "", .unavailable),
    AnswerFact("a 307 is not final", 307, #"{"error":"invalid_grant"}"#, .unavailable),
    AnswerFact("JSON that breaks off is not final", 200, #"{"access_token":"t","#, .unavailable),
    AnswerFact("an empty 200 is not final", 200, "", .unavailable),
    AnswerFact("a 200 without a token is not final", 200, #"{"token_type":"Bearer"}"#, .unavailable),
    AnswerFact("an empty access token is none", 200, #"{"access_token":""}"#, .unavailable),
    AnswerFact("an access token that is no text is none", 200, #"{"access_token":5}"#, .unavailable),
    AnswerFact("a token with a line break is none", 200, #"{"access_token":"a\r\nX: y"}"#, .unavailable),
    AnswerFact("a 200 with an unknown error is not final", 200, #"{"ok":false,"error":"fatal_error"}"#, .unavailable),
    AnswerFact("a 204 is not final", 204, "", .unavailable),
  ]

  @Test("an answer means what the facts about providers say", arguments: facts)
  func outcome(_ fact: AnswerFact) throws {
    let reader = reader(fact.isJSONAccount ? .json(try backend()) : .oauth)
    let failure = failure(answer(fact.body, status: fact.status, headers: [("Content-Type", fact.type)]), reader)
    #expect(failure.map(Outcome.init) ?? .granted == fact.expected, "\(String(describing: failure))")
  }

  @Test("an answer that was cut is no grant")
  func truncated() {
    var answer = answer(#"{"access_token":"t"}"#)
    answer.isTruncated = true
    #expect(failure(answer, reader()).map(Outcome.init) == .unavailable)
  }

  @Test("Retry-After comes along with what is to be tried again")
  func retryAfter() {
    let answer = answer("", status: 429, headers: [("Retry-After", "77")])
    guard case .unavailable(_, let retryAfter) = failure(answer, reader()) else {
      Issue.record("it is something else")
      return
    }
    #expect(retryAfter == .seconds(77))
  }

  @Test(
    "no secret that was sent or that came is in a message, however it is echoed",
    arguments: [
      (400, #"{"error":"invalid_grant","error_description":"token SENT-refresh-1//x+y is old"}"#),
      (400, #"{"error":"invalid_grant","error_description":"token SENT-refresh-1\/\/x\u002by"}"#),
      (400, #"{"error":"SENT-refresh-1//x+y"}"#),
      (400, "no such token: SENT-refresh-1%2F%2fx%2By"),
      (400, "U0VOVC1yZWZyZXNoLTEvL3greQ=="),
      (200, #"{"error":"odd","error_description":"kept CAME-access-token","access_token":"CAME-access-token"}"#),
      (500, #"{"error":"odd","message":"CAME-access-token","data":{"refresh_token":"CAME-access-token"}}"#),
    ])
  func redaction(status: Int, body: String) throws {
    let reader = reader(secrets: ["SENT-refresh-1//x+y"])
    let text = "\(String(describing: try #require(failure(answer(body, status: status), reader))))"
    for secret in ["SENT-refresh", "CAME-access", "U0VOVC1yZWZy", "1//x", "%2Fx"] {
      #expect(!text.contains(secret), "\(text)")
    }
  }

  @Test("messages say what was said, in one short line")
  func wording() throws {
    let long = String(repeating: "very ", count: 200)
    let body = #"{"error":"invalid_grant","error_description":"Token\r\n\u001b[31m revoked \#(long)"}"#
    guard case .rejected(_, let message) = failure(answer(body, status: 400), reader()) else {
      Issue.record("it is something else")
      return
    }
    #expect(
      message.hasPrefix("https://id.example.com refused the refresh token: HTTP 400, invalid_grant, Token [31m revoked")
    )
    #expect(message.count < 400)
    #expect(!message.contains { $0.isNewline || $0 == "\u{1b}" })
  }

  @Test(
    "messages end with one full stop, however the provider ends what it says",
    arguments: [
      (400, #"{"error":"invalid_grant","error_description":"It is revoked. "}"#), (503, "Come back later."),
      (503, #"{"error":"temporarily_unavailable.","error_description":"..."}"#), (400, "Nothing doing..."),
    ])
  func oneFullStop(status: Int, body: String) {
    let message = String(describing: failure(answer(body, status: status), reader()))
    #expect(!message.contains("..") && !message.contains(". .") && !message.contains(".)."))
  }

  // MARK: - Grants

  @Test("a whole answer is read field by field (RFC 6749, section 5.1)")
  func whole() throws {
    let idToken = jwt(#"{"iss":"https://id.example.com","sub":"2482","aud":"hearth"}"#)
    let body = """
      {"access_token":"at","refresh_token":"rt","id_token":"\(idToken)","token_type":"bearer","scope":"openid a",
       "expires_in":3600,"refresh_expires_in":86400}
      """
    let response = try reader().read(answer(body, headers: [("Date", "Sat, 21 Nov 2026 10:00:07 GMT")]))
    #expect(response.accessToken.secret == Secret("at"))
    #expect(response.accessToken.fingerprint.description == "b1d6b91b")
    #expect(response.refreshToken?.secret == Secret("rt"))
    #expect(response.idToken?.secret == Secret(idToken))
    #expect(response.tokenType == "Bearer")
    #expect(response.scope == "openid a")
    #expect(response.lifetime == .seconds(3600))
    #expect(response.refreshLifetime == .seconds(86_400))
    #expect(response.subject == Subject(issuer: "https://id.example.com", id: "2482"))
    #expect(response.origin == origin())
    #expect(response.skew == .seconds(7))
  }

  @Test("what does not come is not made up")
  func sparse() throws {
    let response = try reader().read(answer(#"{"access_token":"at","refresh_token":"","refresh_expires_in":0}"#))
    #expect(response.refreshToken == nil)
    #expect(response.idToken == nil)
    #expect(response.scope == nil)
    #expect(response.lifetime == nil)
    #expect(response.refreshLifetime == nil)
    #expect(response.subject == nil)
    #expect(response.skew == nil)
  }

  @Test(
    "a lifetime is a number or a string, and zero is none",
    arguments: [
      (#"3600"#, Duration.seconds(3600)), (#""3600""#, .seconds(3600)), (#"3599.5"#, .milliseconds(3_599_500)),
      (#"2"#, .seconds(2)), (#"1e300"#, .seconds(3_155_760_000)), (#"0"#, nil), (#"-5"#, nil), (#""soon""#, nil),
      (#"null"#, nil), (#"true"#, nil), (#""nan""#, nil), (#""inf""#, nil),
    ] as [(String, Duration?)])
  func lifetime(_ value: String, _ expected: Duration?) throws {
    let response = try reader().read(answer(#"{"access_token":"at","expires_in":\#(value)}"#))
    #expect(response.lifetime == expected)
  }

  @Test("without expires_in the JWT's own times count, by the server's clock where it has no iat")
  func lifetimeOfJWT() throws {
    // now is 1795255200.
    let both = jwt(#"{"exp":1795258800,"iat":1795257000}"#)
    #expect(try reader().read(answer(#"{"access_token":"\#(both)"}"#)).lifetime == .seconds(1800))
    let expiryAlone = jwt(#"{"exp":1795258800}"#)
    #expect(try reader().read(answer(#"{"access_token":"\#(expiryAlone)"}"#)).lifetime == .seconds(3600))
    let date = [("Date", "Sat, 21 Nov 2026 10:30:00 GMT")]
    let byServer = answer(#"{"access_token":"\#(expiryAlone)"}"#, headers: date)
    #expect(try reader().read(byServer).lifetime == .seconds(1800))
    #expect(try reader().read(answer(#"{"access_token":"\#(both)","expires_in":60}"#)).lifetime == .seconds(60))
  }

  @Test("an ID token's own times are told beside the lifetime of the access token")
  func lifetimeOfIDToken() throws {
    let dated = jwt(#"{"exp":1795258800,"iat":1795257000}"#)
    let response = try reader().read(answer(#"{"access_token":"at","expires_in":60,"id_token":"\#(dated)"}"#))
    #expect(response.lifetime == .seconds(60))
    #expect(response.idTokenLifetime == .seconds(1800))
    let undated = jwt(#"{"sub":"2482"}"#)
    #expect(try reader().read(answer(#"{"access_token":"at","id_token":"\#(undated)"}"#)).idTokenLifetime == nil)
    let alone = try reader(.firebase).read(answer(#"{"id_token":"\#(dated)","expires_in":"1800"}"#))
    #expect(alone.lifetime == .seconds(1800) && alone.idTokenLifetime == .seconds(1800))
  }

  @Test("where nothing tells a lifetime the configured one counts")
  func defaultLifetime() throws {
    var reader = reader()
    reader.defaultLifetime = .seconds(900)
    let dated = jwt(#"{"exp":1795258800,"iat":1795257000}"#)
    for told in ["", #","expires_in":0"#, #","expires_in":-5"#] {
      #expect(try reader.read(answer(#"{"access_token":"opaque"\#(told)}"#)).lifetime == .seconds(900))
      #expect(try reader.read(answer(#"{"access_token":"\#(dated)"\#(told)}"#)).lifetime == .seconds(1800))
    }
    #expect(try reader.read(answer(#"{"access_token":"opaque","expires_in":60}"#)).lifetime == .seconds(60))
  }

  @Test(
    "the token's type is Bearer in any case, and other schemes stay as they are",
    arguments: [("BEARER", "Bearer"), ("bearer", "Bearer"), ("DPoP", "DPoP"), (#"a\r\nb"#, "Bearer")])
  func tokenType(_ text: String, _ expected: String) throws {
    let response = try reader().read(answer(#"{"access_token":"at","token_type":"\#(text)"}"#))
    #expect(response.tokenType == expected)
  }

  @Test("scopes may come as a list")
  func scopeList() throws {
    #expect(try reader().read(answer(#"{"access_token":"at","scope":["a","b"]}"#)).scope == "a b")
  }

  @Test("Firebase's answer has everything as text and names its user")
  func firebase() throws {
    let body = """
      {"access_token":"at","expires_in":"3600","token_type":"Bearer","refresh_token":"rt","id_token":"it",
       "user_id":"tRcfmLH7","project_id":"5"}
      """
    let response = try reader().read(answer(body))
    #expect(response.lifetime == .seconds(3600))
    #expect(response.subject == Subject(issuer: "https://id.example.com", id: "tRcfmLH7"))
  }

  @Test("a json account's fields may have other names and be nested")
  func nested() throws {
    let backend = try backend { backend in
      backend.accessTokenField = "data.session.token"
      backend.refreshTokenField = "renewal"
      backend.expiresInField = "data.ttl"
    }
    let body = #"{"data":{"session":{"token":"at","renewal":"rt","scope":"s"},"ttl":"60"}}"#
    let response = try reader(.json(backend)).read(answer(body))
    #expect(response.accessToken.secret == Secret("at"))
    #expect(response.refreshToken?.secret == Secret("rt"))
    #expect(response.scope == "s")
    #expect(response.lifetime == .seconds(60))
  }

  @Test("who the user is comes from the ID token before all else")
  func subjects() throws {
    var reader = reader()
    reader.fallbackSubject = Subject(issuer: "configured", id: "me")
    let idToken = jwt(#"{"sub":"2482"}"#)
    let told = try reader.read(answer(#"{"access_token":"at","id_token":"\#(idToken)"}"#))
    #expect(told.subject == Subject(issuer: "https://id.example.com", id: "2482"))
    #expect(try reader.read(answer(#"{"access_token":"at"}"#)).subject == Subject(issuer: "configured", id: "me"))
  }
}
