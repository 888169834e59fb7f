import HearthCore
import Testing

@testable import HearthOAuth

@Suite("What an answer without a grant means") struct RefusalTests {
  static let form = "application/x-www-form-urlencoded"
  static let page = "<!DOCTYPE html><html><body>Welcome to the hotel</body></html>"

  static let facts: [AnswerFact] = [
    AnswerFact("an access token is a grant", 200, #"{"access_token":"t"}"#, .granted),
    AnswerFact("201 is a grant too", 201, #"{"access_token":"t"}"#, .granted),
    AnswerFact("a null error beside a token is none", 200, #"{"access_token":"t","error":null}"#, .granted),
    AnswerFact("nor is an empty one", 200, #"{"access_token":"t","error":""}"#, .granted),
    AnswerFact("a token is a grant with any error", 200, #"{"access_token":"t","error":"invalid_grant"}"#, .granted),
    AnswerFact("and with any code", 200, #"{"access_token":"t","code":"OK","error_code":"token_expired"}"#, .granted),
    AnswerFact("a form with a token is a grant", 200, "access_token=t&expires_in=5", type: form, .granted),
    AnswerFact(
      "a token in an envelope is a grant", 200, #"{"code":"OK","data":{"access_token":"t"},"message":"success"}"#,
      .granted),
    AnswerFact("a json account's too", 200, #"{"code":"OK","data":{"access_token":"t"}}"#, json: true, .granted),
    AnswerFact("and Slack's, of a user", 200, #"{"ok":true,"authed_user":{"access_token":"t"}}"#, .granted),
    AnswerFact("JSON that calls itself a page is none", 200, #"{"access_token":"t"}"#, type: "text/html", .granted),
    AnswerFact("a code beside no token is no error", 200, #"{"code":"TOKEN_EXPIRED"}"#, .unavailable),
    AnswerFact("nor are the zeros of success", 200, #"{"error":0,"error_code":"0","code":0}"#, .unavailable),
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
    AnswerFact("USER_DISABLED is said so", 403, #"{"error":"USER_DISABLED"}"#, .disabled),
    AnswerFact("words behind a colon belong to the code", 400, #"{"error":"invalid_grant: it is gone"}"#, .rejected),
    AnswerFact("a form may say so too", 400, "error=invalid_grant&error_description=gone", type: form, .rejected),
    AnswerFact("so may one in a 200", 200, "error=bad_refresh_token", type: form + "; charset=utf-8", .rejected),
    AnswerFact("a json account's 401 with an object is final", 401, "{}", json: true, .rejected),
    AnswerFact("a json account's 403 with an object is final", 403, #"{"message":"no"}"#, json: true, .rejected),
    AnswerFact(
      "a json account's 403 may name a disabled account", 403, #"{"error":"user_disabled"}"#, json: true, .disabled),
    // For a person to mend.
    AnswerFact("invalid_request is the configuration's", 400, #"{"error":"invalid_request"}"#, .misconfigured),
    AnswerFact("invalid_client is the configuration's", 401, #"{"error":"invalid_client"}"#, .misconfigured),
    AnswerFact("invalid_client is so with 400 too", 400, #"{"error":"invalid_client"}"#, .misconfigured),
    AnswerFact("unauthorized_client is the configuration's", 400, #"{"error":"unauthorized_client"}"#, .misconfigured),
    AnswerFact(
      "unsupported_grant_type is the configuration's", 400, #"{"error":"unsupported_grant_type"}"#, .misconfigured),
    AnswerFact("invalid_scope is the configuration's", 400, #"{"error":"invalid_scope"}"#, .misconfigured),
    AnswerFact("404 is the configuration's", 404, "", .misconfigured),
    AnswerFact("404 with a page is so too", 404, page, type: "text/html", .misconfigured),
    AnswerFact("invalid_grant with 404 is so", 404, #"{"error":"invalid_grant"}"#, .misconfigured),
    AnswerFact("405 is the configuration's", 405, "Method Not Allowed", type: "text/plain", .misconfigured),
    AnswerFact(
      "a wrong Firebase key is the configuration's", 400,
      #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
      .misconfigured),
    // Ends nothing, and is waited out.
    AnswerFact("an empty 400 is unclear", 400, "", .unclear),
    AnswerFact("a 400 with text is unclear", 400, "Bad Request", type: "text/plain", .unclear),
    AnswerFact("a 400 with a gateway's XML is a page", 400, "<Error><Code>Bad</Code></Error>", .unavailable),
    AnswerFact("a 400 with JSON that names no error is unclear", 400, #"{"message":"no"}"#, .unclear),
    AnswerFact("a 400 with a JSON array is unclear", 400, #"["invalid_grant"]"#, .unclear),
    AnswerFact("the word alone is no code", 400, #""invalid_grant""#, .unclear),
    AnswerFact("nor is it in the description", 400, #"{"error":"x","error_description":"invalid_grant"}"#, .unclear),
    AnswerFact("nor in a text", 400, "invalid_grant", type: "text/plain", .unclear),
    AnswerFact(
      "a form that does not call itself one is a text", 400, "error=invalid_grant", type: "text/plain", .unclear),
    AnswerFact("a form that breaks off is a text", 400, "error=invalid_grant&x=%2", type: form, .unclear),
    AnswerFact("a sentence with a colon is no code", 400, #"{"error":"it said: invalid_grant"}"#, .unclear),
    AnswerFact("a form with two errors says neither", 400, "error=invalid_grant&error=x", type: form, .unclear),
    AnswerFact(
      "a json account's own error code is unclear", 400, #"{"error":"Session not found"}"#, json: true, .unclear),
    AnswerFact("a 401 that says nothing is unclear", 401, "", .unclear),
    AnswerFact("a 403 that says nothing is unclear", 403, "", .unclear),
    AnswerFact("an error that nobody knows is unclear", 400, #"{"error":"brand_new_error"}"#, .unclear),
    AnswerFact("a second factor that is missing is unclear", 403, #"{"error":"mfa_required"}"#, .unclear),
    AnswerFact("access_denied is unclear", 403, #"{"error":"access_denied"}"#, .unclear),
    AnswerFact(
      "a Firebase credential that is too old is unclear", 400,
      #"{"error":{"code":400,"message":"CREDENTIAL_TOO_OLD_LOGIN_AGAIN","status":"INVALID_ARGUMENT"}}"#, .unclear),
    AnswerFact("a disabled account in words of its own is unclear", 400, #"{"error":"account_disabled"}"#, .unclear),
    AnswerFact("an API gateway's 403 is unclear", 403, #"{"message":"Forbidden"}"#, .unclear),
    AnswerFact(
      "invalid_grant with a status that is not final is unclear", 422, #"{"error":"invalid_grant"}"#, .unclear),
    AnswerFact("with 409 too", 409, #"{"error":"invalid_grant"}"#, .unclear),
    AnswerFact("a 410 is unclear", 410, "", .unclear),
    AnswerFact("a 451 is unclear", 451, #"{"message":"sanctions"}"#, .unclear),
    AnswerFact("a json account's 401 without a word is unclear", 401, "", json: true, .unclear),
    AnswerFact(
      "a json account's 403 of Cloudflare is unclear", 403, "error code: 1020", type: "text/plain", json: true,
      .unclear),
    AnswerFact("a json account's 401 with a form is unclear", 401, "message=no", type: form, json: true, .unclear),
    AnswerFact("a json account's 401 with an array is unclear", 401, "[]", json: true, .unclear),
    AnswerFact("a 200 with an unknown error is unclear", 200, #"{"ok":false,"error":"fatal_error"}"#, .unclear),
    // Is waited out too, the provider having said nothing.
    AnswerFact("a json account's 403 with a page is not final", 403, page, json: true, .unavailable),
    AnswerFact(
      "a json account's 403 that asks to come back is not final", 403, #"{"error":"temporarily_unavailable"}"#,
      json: true, .unavailable),
    AnswerFact("temporarily_unavailable is not final", 400, #"{"error":"temporarily_unavailable"}"#, .unavailable),
    AnswerFact("408 is not final", 408, "", .unavailable),
    AnswerFact("425 is not final", 425, #"{"error":"invalid_grant"}"#, .unavailable),
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
    AnswerFact("a 204 is not final", 204, "", .unavailable),
  ]

  @Test("an answer means what the facts about providers say", arguments: facts)
  func outcome(_ fact: AnswerFact) throws {
    let reader = reader(fact.isJSONAccount ? .json(try backend()) : .oauth)
    let failure = reader.failure(answer(fact.body, status: fact.status, headers: [("Content-Type", fact.type)]))
    #expect(failure.map(Outcome.init) ?? .granted == fact.expected, "\(String(describing: failure))")
  }

  @Test("an answer that was cut is no grant")
  func truncated() {
    var answer = answer(#"{"access_token":"t"}"#)
    answer.isTruncated = true
    #expect(reader().failure(answer).map(Outcome.init) == .unavailable)
  }

  @Test("Retry-After comes along with what is to be tried again")
  func retryAfter() {
    let answer = answer("", status: 429, headers: [("Retry-After", "77")])
    guard case .unavailable(_, let retryAfter) = reader().failure(answer) else {
      Issue.record("it is something else")
      return
    }
    #expect(retryAfter == .seconds(77))
  }

  @Test("an error code of the account's own ends the session where a known one would, and nowhere else")
  func finalErrors() {
    var reader = reader()
    reader.finalErrors = ["token_revoked", "40101"]
    func outcome(_ status: Int, _ body: String) -> Outcome? {
      reader.failure(answer(body, status: status)).map(Outcome.init)
    }
    for status in [200, 400, 401, 403] {
      #expect(outcome(status, #"{"error":"token_revoked"}"#) == .rejected)
      #expect(outcome(status, #"{"code":40101,"message":"gone"}"#) == .rejected)
    }
    for status in [404, 405] { #expect(outcome(status, #"{"error":"token_revoked"}"#) == .misconfigured) }
    #expect(outcome(422, #"{"error":"token_revoked"}"#) == .unclear)
    for status in [429, 500, 503] { #expect(outcome(status, #"{"error":"token_revoked"}"#) == .unavailable) }
    #expect(outcome(400, #"{"error":"token_revoked_not"}"#) == .unclear)
    #expect(outcome(200, #"{"error":"token_revoked","access_token":"t"}"#) == nil)
  }

  @Test("a rule counts before what a code means elsewhere, and is final only where a code may be")
  func rules() {
    var reader = reader()
    reader.rules = [
      AnswerRule(code: "invalid_request", phrase: "invalid token", means: .final),
      AnswerRule(code: "invalid_grant", phrase: "IP restricted", means: .unclear),
      AnswerRule(phrase: "try later", means: .unavailable),
    ]
    func outcome(_ status: Int, _ body: String) -> Outcome? {
      reader.failure(answer(body, status: status)).map(Outcome.init)
    }
    #expect(outcome(401, #"{"error":"invalid_request","reason":"Invalid Token!"}"#) == .rejected)
    #expect(outcome(401, #"{"error":"invalid_request","reason":"grant_type"}"#) == .misconfigured)
    #expect(outcome(422, #"{"error":"invalid_request","reason":"Invalid Token!"}"#) == .unclear)
    #expect(outcome(500, #"{"error":"invalid_request","reason":"Invalid Token!"}"#) == .unavailable)
    #expect(outcome(400, #"{"error":"invalid_grant","error_description":"ip restricted or login hours"}"#) == .unclear)
    #expect(outcome(400, #"{"error":"invalid_grant"}"#) == .rejected)
    #expect(outcome(403, #"{"message":"Please try later."}"#) == .unavailable)
  }
}
