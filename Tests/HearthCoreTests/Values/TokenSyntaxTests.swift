import HearthCore
import Testing

@Suite("Of what tokens are made")
struct TokenSyntaxTests {
  @Test("whatever providers issue is a token", arguments: ["abc", "a.b-c_d~e+f/g==", "!\"#$%&'()*,:;<>?@[]^`{|}"])
  func taken(text: String) {
    #expect(text.isBearerToken && text.isRefreshToken)
  }

  @Test(
    "control characters and what is not ASCII are in none", arguments: ["a\r\nX: y", "a\u{0}", "a\u{7F}", "é", "\t"])
  func refused(text: String) {
    #expect(!text.isBearerToken && !text.isRefreshToken)
  }

  @Test("a space may be in a refresh token, and in nothing that stands in a header")
  func space() {
    #expect("a b".isRefreshToken && !"a b".isBearerToken)
  }
}
