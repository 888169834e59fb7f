import HearthControl
import HearthCore
import Testing

@testable import hearth_oidc_agent

private typealias Request = hearth_oidc_agent.Request
private typealias Failure = hearth_oidc_agent.Failure

@Suite("A request of a client of oidc-agent")
struct RequestTests {
  private func read(_ text: String) throws -> Request { try Request(JSON(parsing: text)) }

  private func refusal(_ text: String) throws -> String? {
    do {
      _ = try read(text)
      return nil
    } catch let failure as Failure { return failure.error }
  }

  @Test("for a token has all that the clients write, and what they leave empty is not asked for")
  func token() throws {
    #expect(
      try read(
        #"{"request":"access_token","account":"work","min_valid_period":30,"scope":"a b","application_hint":"x","audience":"c"}"#
      ) == .accessToken(.init(owner: .account("work"), validity: .atLeast(.seconds(30)), scope: "a b", audience: "c")))
    #expect(
      try read(#"{"request":"access_token","account":"","issuer":"https://i","scope":"","audience":null}"#)
        == .accessToken(.init(owner: .issuer("https://i"))))
    #expect(
      try read(#"{"request":"access_token","account":"work","min_valid_period":-1}"#)
        == .accessToken(.init(owner: .account("work"), validity: .new)))
    #expect(
      try read(#"{"request":"access_token","account":"work","min_valid_period":"9000000000000"}"#)
        == .accessToken(.init(owner: .account("work"), validity: .atLeast(.seconds(Int32.max)))))
  }

  @Test("for anything else is known by its name")
  func others() throws {
    #expect(try read(#"{"request":"loaded_accounts"}"#) == .loadedAccounts)
    #expect(try read(#"{"request":"lock","password":"p"}"#) == .lock(Secret("p")))
    #expect(try read(#"{"request":"unlock","password":"p"}"#) == .unlock(Secret("p")))
    #expect(try read(#"{"request":"check"}"#) == .check)
    #expect(try read(#"{"request":"status"}"#) == .status)
    #expect(try read(#"{"request":"status_json"}"#) == .statusJSON)
    #expect(try read(#"{"request":"add","config":{}}"#) == .foreign(.management))
    #expect(try read(#"{"request":"id_token"}"#) == .foreign(.idToken))
    #expect(try read(#"{"request":"dance"}"#) == .foreign(.unknownRequest))
  }

  @Test("that cannot be understood is told why")
  func malformed() throws {
    #expect(try refusal("[]") == "Bad Request: A request must be a JSON object.")
    #expect(try refusal("{}") == "Bad Request: No request type.")
    #expect(try refusal(#"{"request":7}"#) == "Bad Request: The field \"request\" must be a string.")
    #expect(
      try refusal(#"{"request":"access_token"}"#)
        == "Bad Request: A request for an access token must contain \"account\" or "
        + "\"issuer\".")
    #expect(
      try refusal(#"{"request":"access_token","account":"a","min_valid_period":-2}"#)
        == "Bad Request: The field \"min_valid_period\" must be a whole number of seconds, or -1 for a new token.")
    #expect(try refusal(#"{"request":"lock"}"#) == "Bad Request: The field \"password\" is missing or empty.")
  }

  @Test("is answered in oidc-agent's words")
  func answers() {
    #expect(
      Answer.token(Secret("t"), issuer: "https://i", expiresAt: Timestamp(seconds: 12)).json.description
        == #"{"status":"success","access_token":"t","issuer":"https://i","expires_at":12}"#)
    #expect(
      Answer.failure(Failure("Agent locked", info: "Unlock it.")).json.description
        == #"{"status":"failure","error":"Agent locked","info":"Unlock it.\n"}"#)
    #expect(Answer.success(info: ["a", "b"]).json.description == #"{"status":"success","info":["a","b"]}"#)
    #expect(!"\(Answer.token(Secret("hidden"), issuer: "i", expiresAt: nil))".contains("hidden"))
  }
}
