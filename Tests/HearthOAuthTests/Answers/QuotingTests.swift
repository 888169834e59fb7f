import HearthCore
import Testing

@testable import HearthOAuth

@Suite("What is quoted of a refusal") struct QuotingTests {
  @Test(
    "no secret that was sent or that came is in a message, however it is echoed",
    arguments: [
      (400, #"{"error":"invalid_grant","error_description":"token SENT-refresh-1//x+y is old"}"#),
      (400, #"{"error":"invalid_grant","error_description":"token SENT-refresh-1\/\/x\u002by"}"#),
      (400, #"{"error":"SENT-refresh-1//x+y"}"#),
      (400, #"{"error":"odd","renewal":"CAME-access-token","message":"CAME-access-token"}"#),
      (400, #"{"error":"odd","sessionToken":["CAME-access-token"],"message":"CAME-access-token"}"#),
      (400, #"{"error":"odd","message":"k7Qz8WvR2mXy5TbN"}"#),
      (
        400,
        #"{"error":"odd","error_description":"was 1//0k7Qz8WvR2mXy5TbN-_x, see https://a.example/k7Qz8WvR2mXy5TbN"}"#
      ),
      (400, #"{"error":"odd","message":"id 0b1ec7b1-c0de-4b1d-a5a5-0123456789ab"}"#),
      (400, #"{"error":"k7Qz8WvR2mXy5TbN"}"#), (400, #"{"error":"odd","x":{"y":["k7Qz8WvR2mXy5TbN"]}}"#),
      (400, "k7Qz8WvR2mXy5TbN"), (400, "CAME-access-token"), (200, "CAME-access-token"),
      (400, "no such token: SENT-refresh-1%2F%2fx%2By"),
      (400, "U0VOVC1yZWZyZXNoLTEvL3greQ=="),
      (400, #"{"error":"odd","error_description":"kept CAME-access-token","access_token":"CAME-access-token"}"#),
      (500, #"{"error":"odd","message":"CAME-access-token","data":{"refresh_token":"CAME-access-token"}}"#),
    ])
  func redaction(status: Int, body: String) throws {
    let backend = try backend { $0.refreshTokenField = "renewal" }
    let reader = reader(.json(backend), secrets: ["SENT-refresh-1//x+y"])
    let text = "\(String(describing: try #require(reader.failure(answer(body, status: status)))))"
    for secret in ["SENT-refresh", "CAME-access", "U0VOVC1yZWZy", "1//x", "%2Fx", "k7Qz8", "0b1ec7b1"] {
      #expect(!text.contains(secret), "\(text)")
    }
  }

  @Test("messages say what was said, in one short line")
  func wording() throws {
    let long = String(repeating: "very ", count: 200)
    let body = #"{"error":"invalid_grant","error_description":"Token\r\n\u001b[31m revoked \#(long)"}"#
    guard case .rejected(_, let message) = reader().failure(answer(body, status: 400)) else {
      Issue.record("it is something else")
      return
    }
    #expect(
      message.hasPrefix(
        "https://id.example.com rejected the refresh token: HTTP 400, invalid_grant, Token [31m revoked")
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
    let message = String(describing: reader().failure(answer(body, status: status)))
    #expect(!message.contains("..") && !message.contains(". .") && !message.contains(".)."))
  }

  @Test(
    "what a provider says is told, with its codes, dates and addresses",
    arguments: [
      (
        400,
        #"{"error":"invalid_grant","error_codes":[50173],"error_description":"AADSTS50173: The provided grant has expired due to it being revoked. The grant was issued on '2026-10-31T19:02:43.0000000Z'."}"#,
        "HTTP 400, invalid_grant, AADSTS50173: The provided grant has expired due to it being revoked. The grant was issued on '2026-10-31T19:02:43.0000000Z'"
      ),
      (
        400, #"{"error":"invalid_grant","error_description":"See https://docs.example.com/errors/invalid-grant."}"#,
        "invalid_grant, See https://docs.example.com/errors/invalid-grant"
      ),
      (403, #"{"error":"access_denied","error_description":"Unauthorized"}"#, "HTTP 403, access_denied, Unauthorized"),
      (400, #"{"errorCode":"E0000047","errorSummary":"Too much."}"#, "HTTP 400, E0000047, Too much"),
      (400, #"{"status":400,"message":"Invalid refresh token"}"#, "HTTP 400, Invalid refresh token"),
      (
        400,
        #"{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#,
        "HTTP 400, Bad Request, RefreshToken refresh_token invalid"
      ),
      (
        400, #"{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#,
        "HTTP 400, API_KEY_INVALID, API key not valid"
      ),
      (
        200, #"{"status":503,"error":"Invalid Params: invalid refresh_token, which has been used by you before"}"#,
        "HTTP 200, Invalid Params: invalid refresh_token, which has been used by you before"
      ),
      (400, "", "HTTP 400, an empty response"), (400, "gone", "HTTP 400, text that is not a JSON object"),
      (400, "{}", "HTTP 400, a response without an error code"), (404, "<html>", "HTTP 404, a web page"),
    ])
  func telling(status: Int, body: String, told: String) throws {
    let text = try #require(reader().failure(answer(body, status: status))).message
    #expect(text.contains(told), "\(text)")
  }

  @Test("a response without an error code is told with the server's name for itself")
  func server() throws {
    let answer = answer("error code: 1020", status: 403, headers: [("Server", "cloudflare")])
    let text = "\(String(describing: try #require(reader().failure(answer))))"
    #expect(text.contains("text that is not a JSON object, from a server named cloudflare"))
    #expect(!text.contains("1020"))
  }
}
