import HearthControl
import HearthCore
import Testing

@Suite struct SecretTextTests {
  private func reason(_ bytes: [UInt8]) -> String? {
    #expect(throws: SecretText.Refusal.self) { try SecretText.secret(in: bytes) }?.reason
  }

  @Test(
    "a secret is read without a byte order mark before it and without the ends of lines after it",
    arguments: ["", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n"], ["", "\u{FEFF}"])
  func ends(end: String, mark: String) throws {
    for secret in ["s3cret word", " s3cret ", "a=b", "sécret", "{"] {
      #expect(try SecretText.secret(in: Array((mark + secret + end).utf8)) == Secret(secret))
    }
  }

  @Test("what cannot be one secret is refused, and named")
  func refused() {
    #expect(reason([]) == "is empty" && reason(Array("\u{FEFF}\r\n".utf8)) == "is empty")
    #expect(reason(Array("one\ntwo".utf8))?.hasPrefix("has several lines") == true)
    #expect(reason([0xFF, 0xFE, 0x61, 0]) == "is UTF-16 text: save it as UTF-8")
    #expect(reason([0xFE, 0xFF, 0, 0x61]) == "is UTF-16 text: save it as UTF-8")
    #expect(reason([0x61, 0, 0x62, 0])?.hasPrefix("has control characters") == true)
    #expect(reason([0x61, 0xFF]) == "is not UTF-8 text")
  }
}
