import TestSupport
import Testing

@testable import HearthCore

@Suite("What an API wants beyond a fresh token") struct ChallengeTests {
  private func read(_ status: Int, _ fields: String..., without secrets: [Secret] = []) -> Challenge? {
    let headers = fields.map { APIRequest.Header(name: "wWw-aUthenticate", value: $0) }
    return Challenge(
      APIResponse(status: status, headers: [.init(name: "Date", value: "now")] + headers), from: Sample.origin,
      without: secrets)
  }

  private func parameters(_ field: String) -> [[String: String]] { AuthenticationChallenges(field).parameters }

  @Test("includes a stronger or newer sign-in, as RFC 9470 writes it")
  func stepUp() {
    let field = """
      Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", \
      acr_values="myACR phr", max_age="5"
      """
    #expect(
      read(401, field)
        == Challenge(
          origin: Sample.origin, error: "insufficient_user_authentication", acrValues: "myACR phr", maxAge: 5))
    #expect(read(401, "DPoP error=insufficient_user_authentication, max_age=0")?.maxAge == 0)
  }

  @Test("includes claims, as Entra writes them")
  func claims() {
    let field = """
      Bearer realm="", authorization_uri="https://login.microsoftonline.com/common/oauth2/authorize", \
      client_id="00000003-0000-0000-c000-000000000000", error="insufficient_claims", claims="eyJhY2Nlc3NfdG9rZW4iOnt9fQ=="
      """
    #expect(read(401, field)?.claims == "eyJhY2Nlc3NfdG9rZW4iOnt9fQ==")
    #expect(read(401, #"Bearer claims="""#) == nil, "none are asked for")
  }

  @Test("includes scopes, also with a 401, as RFC 6750 allows")
  func scopes() {
    let field = #"Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="a b""#
    let challenge = Challenge(origin: Sample.origin, error: "insufficient_scope", scope: "a b")
    #expect(read(403, field) == challenge && read(401, field) == challenge)
  }

  @Test("includes nothing else")
  func others() {
    let stepUp = #"Bearer error="insufficient_user_authentication""#
    for status in [200, 302, 400, 403, 407, 500] { #expect(read(status, stepUp) == nil, "\(status)") }
    #expect(read(403, #"Bearer claims="e30""#) == nil)
    for field in [
      "", "Bearer", #"Bearer error="invalid_token""#, #"Bearer realm="error=\"insufficient_scope\"""#,
      #"Basic realm="x, Bearer error=insufficient_scope, claims=1""#, "Negotiate claims", "insufficient_scope",
      #"Bearer error_description="insufficient_scope, claims=1""#, #"Bearer error="INSUFFICIENT_SCOPE""#,
    ] {
      #expect(read(401, field) == nil, "\(field)")
    }
    #expect(read(401) == nil)
  }

  @Test("is found among several challenges, in one field or several, in any case")
  func several() {
    let demand = #"BEARER REALM="a", Error="insufficient_user_authentication""#
    for fields in [
      ["Negotiate", demand], [#"Basic realm="a, b", "# + demand], ["Negotiate YWJj/+==, " + demand],
      [demand + ", Basic"],
      [#"Bearer error="invalid_token", "# + demand], [",, ,\t" + demand], [#"Basic realm="un\"closed", "# + demand],
    ] {
      let headers = fields.map { APIRequest.Header(name: "www-authenticate", value: $0) }
      let challenge = Challenge(APIResponse(status: 401, headers: headers), from: Sample.origin, without: [])
      #expect(challenge?.error == "insufficient_user_authentication", "\(fields)")
    }
    let two = read(403, #"Bearer error="invalid_token", scope="old", DPoP error="insufficient_scope", scope="new""#)
    #expect(two?.scope == "new", "each challenge has its own parameters")
  }

  @Test("is read from valid fields (RFC 9110), and from others as well as possible")
  func grammar() {
    #expect(parameters(#"A x="1",y = 2 , z="a\"b\\c""#) == [["x": "1", "y": "2", "z": #"a"b\c"#]])
    #expect(parameters("A, B x=1") == [[:], ["x": "1"]])
    #expect(parameters(#"A x="1", x="2""#) == [["x": "1"]], "the first counts")
    #expect(parameters("x=1") == [["x": "1"]], "a scheme is missing")
    #expect(parameters(#"A x="never closed"#) == [["x": "never closed"]])
    #expect(parameters("A scope=https://x/y, error=e").first == ["scope": "https://x/y", "error": "e"])
    #expect(parameters("A; error=e")[0]["error"] == "e")
    #expect(parameters("") == [])
  }

  @Test("contains no token, even if an API repeats it")
  func secrets() {
    let token = Secret("eyJ0b2tlbi10aGF0LWlzLXNlY3JldCI6MX0")
    let challenge = read(
      401, #"Bearer error="insufficient_user_authentication", claims="{\"token\":\"\#(token.reveal())\"}""#,
      without: [token])
    #expect(challenge?.claims == #"{"token":"[redacted]"}"#)
  }

  @Test("is explained to people, with what to do")
  func sentences() {
    #expect(
      read(403, #"Bearer error="insufficient_scope", scope="a b""#)?.sentence
        == "https://api.example.com requires scopes that the token does not have (required: a b). Add the "
        + "missing ones to the account's scopes and sign in again.")
    #expect(
      read(401, "Bearer error=insufficient_user_authentication")?.sentence
        == "https://api.example.com requires a stronger or more recent sign-in (insufficient_user_authentication). "
        + "Sign in again.")
  }
}
