import TestSupport
import Testing

@testable import HearthCore

@Suite("The API's own reason for rejecting a token") struct RejectionReasonTests {
  @Test(
    "is the error of a challenge, if it looks like a code",
    arguments: [
      (#"Bearer realm="a", error="invalid_token", error_description="It is old.""#, "invalid_token"),
      (#"Basic realm="a", Bearer error=expired"#, "expired"), (#"Bearer realm="a""#, nil),
      (#"Bearer error="The token at_0123 is no good.""#, nil), (#"Bearer error="""#, nil),
      (#"Bearer error="\#(String(repeating: "a", count: 65))""#, nil),
    ] as [(String, String?)])
  func code(field: String, reason: String?) {
    #expect(Challenge.reason(in: field) == reason)
  }

  @Test("is never a secret")
  func secret() {
    let response = APIResponse(
      status: 401, headers: [.init(name: "WWW-Authenticate", value: "Bearer error=abracadabra_abracadabra")])
    #expect(Challenge.reason(response, without: []) == "abracadabra_abracadabra")
    #expect(Challenge.reason(response, without: [Secret("abracadabra_abracadabra")]) == nil)
  }
}
