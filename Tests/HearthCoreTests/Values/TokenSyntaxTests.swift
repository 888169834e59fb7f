import HearthCore
import Testing

@Suite("Of what tokens are made")
struct TokenSyntaxTests {
  @Test("whatever providers issue is a token", arguments: ["abc", "a.b-c_d~e+f/g==", "!\"#$%&'()*,:;<>?@[]^`{|}"])
  func taken(text: String) {
    #expect(TokenSyntax.isBearer(text) && TokenSyntax.isRefreshToken(text))
  }

  @Test(
    "control characters and what is not ASCII are in none", arguments: ["a\r\nX: y", "a\u{0}", "a\u{7F}", "é", "\t"])
  func refused(text: String) {
    #expect(!TokenSyntax.isBearer(text) && !TokenSyntax.isRefreshToken(text))
  }

  @Test("a space may be in a refresh token, and in nothing that stands in a header")
  func space() {
    #expect(TokenSyntax.isRefreshToken("a b") && !TokenSyntax.isBearer("a b"))
  }
}
