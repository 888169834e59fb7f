import HearthCore
import Testing

@testable import HearthOAuth

@Suite("What an answer without a grant means") struct RefusalTests {
  static let form = "application/x-www-form-urlencoded"
  static let page = "<!DOCTYPE html><html><body>Welcome to the hotel</body></html>"

  static let facts: [ResponseFact] = [
    ResponseFact("an access token is a grant", 200, #"{"access_token":"t"}"#, .granted),
    ResponseFact("201 is a grant too", 201, #"{"access_token":"t"}"#, .granted),
    ResponseFact("a null error beside a token is none", 200, #"{"access_token":"t","error":null}"#, .granted),
    ResponseFact("nor is an empty one", 200, #"{"access_token":"t","error":""}"#, .granted),
    ResponseFact("a token is a grant with any error", 200, #"{"access_token":"t","error":"invalid_grant"}"#, .granted),
    ResponseFact("and with any code", 200, #"{"access_token":"t","code":"OK","error_code":"token_expired"}"#, .granted),
    ResponseFact("a form with a token is a grant", 200, "access_token=t&expires_in=5", type: form, .granted),
    ResponseFact(
      "a token in an envelope is a grant", 200, #"{"code":"OK","data":{"access_token":"t"},"message":"success"}"#,
      .granted),
    ResponseFact("a json account's too", 200, #"{"code":"OK","data":{"access_token":"t"}}"#, json: true, .granted),
    ResponseFact("and Slack's, of a user", 200, #"{"ok":true,"authed_user":{"access_token":"t"}}"#, .granted),
    ResponseFact("JSON that calls itself a page is none", 200, #"{"access_token":"t"}"#, type: "text/html", .granted),
    ResponseFact("a code beside no token is no error", 200, #"{"code":"TOKEN_EXPIRED"}"#, .unavailable),
    ResponseFact("nor are the zeros of success", 200, #"{"error":0,"error_code":"0","code":0}"#, .unavailable),
    ResponseFact("an ID token alone is no grant", 200, #"{"id_token":"t"}"#, .unavailable),
    ResponseFact("an access token with a line's end is none", 200, #"{"access_token":"t\r\nX: y"}"#, .unavailable),
    ResponseFact("an access token with a space is none", 200, #"{"access_token":"t x"}"#, .unavailable),
    // Final.
    ResponseFact("invalid_grant is final", 400, #"{"error":"invalid_grant"}"#, .rejected),
    ResponseFact("invalid_grant is final with 403 too", 403, #"{"error":"invalid_grant"}"#, .rejected),
    ResponseFact("invalid_grant is final with 401 too", 401, #"{"error":"invalid_grant"}"#, .rejected),
    ResponseFact("interaction_required is final", 400, #"{"error":"interaction_required"}"#, .rejected),
    ResponseFact("login_required is final", 400, #"{"error":"login_required"}"#, .rejected),
    ResponseFact("consent_required is final", 400, #"{"error":"consent_required"}"#, .rejected),
    ResponseFact("token_expired is final", 400, #"{"error":"token_expired"}"#, .rejected),
    ResponseFact("bad_refresh_token in a 200 is final", 200, #"{"error":"bad_refresh_token"}"#, .rejected),
    ResponseFact(
      "invalid_refresh_token in a 200 is final", 200, #"{"ok":false,"error":"invalid_refresh_token"}"#, .rejected),
    ResponseFact(
      "a Firebase token that has expired is final", 400,
      #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#, .rejected),
    ResponseFact(
      "an invalid Firebase refresh token is final", 400,
      #"{"error":{"code":400,"message":"INVALID_REFRESH_TOKEN","status":"INVALID_ARGUMENT"}}"#, .rejected),
    ResponseFact(
      "a disabled Firebase user's account is disabled", 400,
      #"{"error":{"code":400,"message":"USER_DISABLED","status":"INVALID_ARGUMENT"}}"#, .disabled),
    ResponseFact(
      "a Firebase user who is gone is disabled", 400,
      #"{"error":{"code":400,"message":"USER_NOT_FOUND : gone","status":"INVALID_ARGUMENT"}}"#, .disabled),
    ResponseFact("USER_DISABLED is said so", 403, #"{"error":"USER_DISABLED"}"#, .disabled),
    ResponseFact("words behind a colon belong to the code", 400, #"{"error":"invalid_grant: it is gone"}"#, .rejected),
    ResponseFact("a form may say so too", 400, "error=invalid_grant&error_description=gone", type: form, .rejected),
    ResponseFact("so may one in a 200", 200, "error=bad_refresh_token", type: form + "; charset=utf-8", .rejected),
    ResponseFact("a json account's 401 with an object is final", 401, "{}", json: true, .rejected),
    ResponseFact("a json account's 403 with an object is final", 403, #"{"message":"no"}"#, json: true, .rejected),
    ResponseFact(
      "a json account's 403 may name a disabled account", 403, #"{"error":"user_disabled"}"#, json: true, .disabled),
    ResponseFact(
      "Fitbit's dead refresh token is final", 400,
      #"{"errors":[{"errorType":"invalid_grant","message":"Refresh token invalid: 57a. Visit dev.fitbit.com"}],"success":false}"#,
      .rejected),
    // For a person to fix.
    ResponseFact("invalid_request is the configuration's", 400, #"{"error":"invalid_request"}"#, .misconfigured),
    ResponseFact("invalid_client is the configuration's", 401, #"{"error":"invalid_client"}"#, .misconfigured),
    ResponseFact("invalid_client is so with 400 too", 400, #"{"error":"invalid_client"}"#, .misconfigured),
    ResponseFact(
      "unauthorized_client is the configuration's", 400, #"{"error":"unauthorized_client"}"#, .misconfigured),
    ResponseFact(
      "unsupported_grant_type is the configuration's", 400, #"{"error":"unsupported_grant_type"}"#, .misconfigured),
    ResponseFact("invalid_scope is the configuration's", 400, #"{"error":"invalid_scope"}"#, .misconfigured),
    ResponseFact("404 is the configuration's", 404, "", .misconfigured),
    ResponseFact("404 with a page is so too", 404, page, type: "text/html", .misconfigured),
    ResponseFact("invalid_grant with 404 is so", 404, #"{"error":"invalid_grant"}"#, .misconfigured),
    ResponseFact("405 is the configuration's", 405, "Method Not Allowed", type: "text/plain", .misconfigured),
    ResponseFact(
      "a wrong Firebase key is the configuration's", 400,
      #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
      .misconfigured),
    // Ends nothing, and is waited out.
    ResponseFact("an empty 400 is unclear", 400, "", .unclear),
    ResponseFact("a 400 with text is unclear", 400, "Bad Request", type: "text/plain", .unclear),
    ResponseFact("a 400 with a gateway's XML is a page", 400, "<Error><Code>Bad</Code></Error>", .unavailable),
    ResponseFact("a 400 with JSON that names no error is unclear", 400, #"{"message":"no"}"#, .unclear),
    ResponseFact("a 400 with a JSON array is unclear", 400, #"["invalid_grant"]"#, .unclear),
    ResponseFact("INVALID_GRANT in capitals is another code", 400, #"{"error":"INVALID_GRANT"}"#, .unclear),
    ResponseFact("the word alone is no code", 400, #""invalid_grant""#, .unclear),
    ResponseFact("nor is it in the description", 400, #"{"error":"x","error_description":"invalid_grant"}"#, .unclear),
    ResponseFact("nor in a text", 400, "invalid_grant", type: "text/plain", .unclear),
    ResponseFact(
      "a form that does not call itself one is a text", 400, "error=invalid_grant", type: "text/plain", .unclear),
    ResponseFact("a form that breaks off is a text", 400, "error=invalid_grant&x=%2", type: form, .unclear),
    ResponseFact("a sentence with a colon is no code", 400, #"{"error":"it said: invalid_grant"}"#, .unclear),
    ResponseFact("a form with two errors says neither", 400, "error=invalid_grant&error=x", type: form, .unclear),
    ResponseFact(
      "a json account's own error code is unclear", 400, #"{"error":"Session not found"}"#, json: true, .unclear),
    ResponseFact("a 401 that says nothing is unclear", 401, "", .unclear),
    ResponseFact("a 403 that says nothing is unclear", 403, "", .unclear),
    ResponseFact("an error that nobody knows is unclear", 400, #"{"error":"brand_new_error"}"#, .unclear),
    ResponseFact("a second factor that is missing is unclear", 403, #"{"error":"mfa_required"}"#, .unclear),
    ResponseFact("access_denied is unclear", 403, #"{"error":"access_denied"}"#, .unclear),
    ResponseFact(
      "a Firebase credential that is too old is unclear", 400,
      #"{"error":{"code":400,"message":"CREDENTIAL_TOO_OLD_LOGIN_AGAIN","status":"INVALID_ARGUMENT"}}"#, .unclear),
    ResponseFact("a disabled account in words of its own is unclear", 400, #"{"error":"account_disabled"}"#, .unclear),
    ResponseFact("an API gateway's 403 is unclear", 403, #"{"message":"Forbidden"}"#, .unclear),
    ResponseFact(
      "invalid_grant with a status that is not final is unclear", 422, #"{"error":"invalid_grant"}"#, .unclear),
    ResponseFact("with 409 too", 409, #"{"error":"invalid_grant"}"#, .unclear),
    ResponseFact("a 410 is unclear", 410, "", .unclear),
    ResponseFact("a 451 is unclear", 451, #"{"message":"sanctions"}"#, .unclear),
    ResponseFact("a json account's 401 without a word is unclear", 401, "", json: true, .unclear),
    ResponseFact(
      "a json account's 403 of Cloudflare is unclear", 403, "error code: 1020", type: "text/plain", json: true,
      .unclear),
    ResponseFact("a json account's 401 with a form is unclear", 401, "message=no", type: form, json: true, .unclear),
    ResponseFact("a json account's 401 with an array is unclear", 401, "[]", json: true, .unclear),
    ResponseFact("a 200 with an unknown error is unclear", 200, #"{"ok":false,"error":"fatal_error"}"#, .unclear),
    ResponseFact(
      "a sentence with a number in a 200 is unclear", 200,
      #"{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}"#, .unclear),
    // Is waited out too, the provider having said nothing.
    ResponseFact("a json account's 403 with a page is not final", 403, page, json: true, .unavailable),
    ResponseFact(
      "a json account's 403 that asks to come back is not final", 403, #"{"error":"temporarily_unavailable"}"#,
      json: true, .unavailable),
    ResponseFact("temporarily_unavailable is not final", 400, #"{"error":"temporarily_unavailable"}"#, .unavailable),
    ResponseFact("408 is not final", 408, "", .unavailable),
    ResponseFact("425 is not final", 425, #"{"error":"invalid_grant"}"#, .unavailable),
    ResponseFact("429 is not final", 429, #"{"error":"invalid_grant"}"#, .unavailable),
    ResponseFact("407 is not final", 407, "", .unavailable),
    ResponseFact("500 is not final", 500, "", .unavailable),
    ResponseFact(
      "invalid_grant from a server that is broken is not final", 500, #"{"error":"invalid_grant"}"#, .unavailable),
    ResponseFact("502 with a page is not final", 502, page, type: "text/html", .unavailable),
    ResponseFact("503 is not final", 503, "", .unavailable),
    ResponseFact("a portal's page with 200 is not final", 200, page, type: "text/html", .unavailable),
    ResponseFact("a page that says it is JSON is not final", 400, page, .unavailable),
    ResponseFact("a page with 400 is not final", 400, "Bad Request", type: "text/html; charset=utf-8", .unavailable),
    ResponseFact("a redirect is not final", 302, "", .unavailable),
    ResponseFact("a 307 is not final", 307, #"{"error":"invalid_grant"}"#, .unavailable),
    ResponseFact("JSON that breaks off is not final", 200, #"{"access_token":"t","#, .unavailable),
    ResponseFact("an empty 200 is not final", 200, "", .unavailable),
    ResponseFact("a 200 without a token is not final", 200, #"{"token_type":"Bearer"}"#, .unavailable),
    ResponseFact("an empty access token is none", 200, #"{"access_token":""}"#, .unavailable),
    ResponseFact("an access token that is no text is none", 200, #"{"access_token":5}"#, .unavailable),
    ResponseFact("a token with a line break is none", 200, #"{"access_token":"a\r\nX: y"}"#, .unavailable),
    ResponseFact("a 204 is not final", 204, "", .unavailable),
  ]

  @Test("an answer means what the facts about providers say", arguments: facts)
  func outcome(_ fact: ResponseFact) throws {
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

  @Test("Retry-After comes along with what is to be tried again", arguments: [("77", 77), ("29.7", 30), ("0.493", 1)])
  func retryAfter(_ text: String, _ seconds: Int) {
    let answer = answer("", status: 429, headers: [("Retry-After", text)])
    guard case .unavailable(_, let retryAfter) = reader().failure(answer) else {
      Issue.record("it is something else")
      return
    }
    #expect(retryAfter == .seconds(seconds))
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
    for body in [
      #"{"success":false,"errors":[{"errorType":"token_revoked","message":"Refresh token revoked"}]}"#,
      #"{"errors":[{"status":"401","code":"other"},{"status":"401","code":"token_revoked","title":"Gone"}]}"#,
      #"{"errors":[{"code":40101}]}"#,
    ] {
      #expect(outcome(401, body) == .rejected, "as Fitbit and JSON:API write it")
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
      ResponseRule(codes: ["invalid_request"], phrase: "invalid token", means: .final),
      ResponseRule(codes: ["invalid_grant"], phrase: "IP restricted", means: .unclear),
      ResponseRule(phrase: "try later", means: .unavailable),
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
