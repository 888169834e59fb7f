import HearthCore
import TestSupport
import Testing

@Suite("Removing secrets from texts")
struct RedactorTests {
  private static let token = "1//0g-Ab+c/d=e\"f\\gHijKlmnOpqRstuv"
  private let redactor = Redactor([Secret(token)])

  private static let percentEncoded = token.utf8.map { byte in
    let digits = String(byte, radix: 16)
    return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
  }.joined()

  @Test(
    "a secret is found in every form in which a server may echo it",
    arguments: [
      token,
      percentEncoded,
      percentEncoded.uppercased(),
      "1%2F%2F0g-Ab%2Bc%2Fd%3De%22f%5CgHijKlmnOpqRstuv",
      #"1//0g-Ab+c/d=e\"f\\gHijKlmnOpqRstuv"#,
      #"1\/\/0g-Ab\u002bc\/d\u003De\u0022f\u005CgHijKlmnOpqRstuv"#,
      "1//0g-Ab&#43;c&#x2F;d&#61;e&quot;f\\gHijKlmnOpqRstuv",
      token.utf8.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined(),
      token.uppercased(),
      token.lowercased(),
      "1//0G-%41B&#43;C/D=E\"F\\GhIjKlmnOpqRstuv",
    ])
  func forms(_ echo: String) {
    #expect(redactor.redacted("bad token '\(echo)' given") == "bad token '[redacted]' given")
  }

  @Test(
    "a secret is found in Base64 at any position in the encoded text",
    arguments: [
      // Encodings of "", "a", "ab" and "client:" before "sesame-open-now", some with more after it.
      ("c2VzYW1lLW9wZW4tbm93", ""),
      ("YXNlc2FtZS1vcGVuLW5vdw==", "YXN"),
      ("YWJzZXNhbWUtb3Blbi1ub3c=", "YWJ"),
      ("Y2xpZW50OnNlc2FtZS1vcGVuLW5vdw==", "Y2xpZW50On"),
    ])
  func base64(_ encoded: String, kept: String) {
    let result = Redactor([Secret("sesame-open-now")]).redacted("Basic \(encoded).")
    #expect(result.contains(Redactor.replacement))
    #expect(!result.contains("c2VzYW1l") && !result.contains("zZXNhbWU") && !result.contains("lc2FtZS"))
    #expect(result.hasPrefix("Basic " + kept.prefix(2)))
  }

  @Test("the beginning of a secret is removed if it has 16 bytes or more")
  func beginning() {
    let redactor = Redactor([Secret("abcdefghijklmnopqrstuvwxyz")])
    #expect(redactor.redacted("token abcdefghijklmnop… is old") == "token [redacted]… is old")
    #expect(redactor.redacted("token abcdefghij… is old") == "token abcdefghij… is old")
  }

  @Test("if a text is cut off, even the shortest beginning of a secret at its end is removed, but none elsewhere")
  func cut() {
    let redactor = Redactor([Secret("abcdefghijklmnopqrstuvwxyz")])
    func cut(_ text: String) -> String {
      String(decoding: redactor.redacted(Array(text.utf8), isCut: true), as: UTF8.self)
    }
    #expect(cut("abc token abc") == "abc token [redacted]")
    #expect(cut("token abcx") == "token abcx")
    #expect(redactor.redacted("token abc") == "token abc")
  }

  @Test("nothing is left of two secrets that overlap")
  func overlap() {
    let redactor = Redactor([Secret("abcdefgh"), Secret("efghijkl")])
    #expect(redactor.redacted("<abcdefghijkl>") == "<[redacted]>")
  }

  @Test("a very short secret is removed only if it is not part of a word, so that words stay readable")
  func short() {
    let redactor = Redactor([Secret("a1"), Secret("")])
    #expect(redactor.redacted("\"secret\":\"a1\" in a1bc") == "\"secret\":\"[redacted]\" in a1bc")
  }

  @Test("a text without secrets stays unchanged, byte for byte")
  func untouched() {
    let bytes: [UInt8] = [0xff, 0x25, 0x5c, 0x26, 0x23, 0x25, 0x32]
    #expect(redactor.redacted(bytes) == bytes)
  }

  @Test(
    "the time grows linearly with the text, even if long secrets resemble it",
    arguments: ["a", "ab", "%61", "\\u0061", "&#97;", "YWFh", "6161", "\\"])
  func time(_ piece: String) async throws {
    struct Echo {
      let redactor: Redactor
      let text: [UInt8]
    }
    let growth = try await inTurn { () async throws -> Double in
      await TestSupport.growth { (count: Int) -> Echo in
        let text = Array(String(repeating: piece, count: count / piece.utf8.count).utf8)
        let secret = Secret(String(repeating: "a", count: count) + "b")
        return Echo(redactor: Redactor([secret]), text: text)
      } _: { (echo: Echo) in
        _ = echo.redactor.redacted(echo.text)
        _ = echo.redactor.findsAny(in: echo.text)
      }
    }
    #expect(growth < 9)
  }

  @Test("whole secrets are found in an answer in any spelling, and similar words are not")
  func finding() {
    let redactor = Redactor([Secret(Self.token)])
    for echo in [
      Self.token, Self.percentEncoded, #"1\/\/0g-Ab+c\/d=e\"f\\gHijKlmnOpqRstuv"#, Self.token.uppercased(),
      Self.token.utf8.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined(),
    ] { #expect(redactor.findsAny(in: Array("see \(echo)&x".utf8)), "\(echo)") }
    #expect(Redactor([Secret("sesame-open-now")]).findsAny(in: Array("Y2xpZW50OnNlc2FtZS1vcGVuLW5vdw==".utf8)))
    #expect(!redactor.findsAny(in: Array("see \(Self.token.dropLast())".utf8)))
    #expect(!redactor.findsAny(in: []))
  }

  @Test("nothing is left of a repetitive secret and its surroundings")
  func periodic() {
    let redactor = Redactor([Secret(String(repeating: "ab", count: 20) + "c")])
    #expect(redactor.redacted("<" + String(repeating: "ab", count: 25) + "c>") == "<[redacted]>")
    #expect(redactor.redacted(String(repeating: "ab", count: 7)) == String(repeating: "ab", count: 7))
  }

  @Test("a line for people has no control characters or changes of direction, and a maximum length")
  func line() {
    #expect(redactor.line("a\u{1b}[31m\r\n\tb\u{202e}c") == "a [31m b c")
    #expect(redactor.line(String(repeating: "x", count: 300), limit: 10) == "xxxxxxxxx…")
    let long = String(repeating: "x", count: 190) + Self.token
    #expect(redactor.line(long, limit: 200) == String(repeating: "x", count: 190) + "[redacted]")
  }
}
