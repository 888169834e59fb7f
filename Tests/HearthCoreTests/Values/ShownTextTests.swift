import HearthCore
import TestSupport
import Testing

@Suite("Text from outside is made fit to be shown") struct ShownTextTests {
  @Test("plain text of any script stands as it is")
  func plain() {
    for text in ["", "a b", "Grüße, 東京 🦊 – „so“…", "नमस्ते", "e\u{301}", "non\u{A0}breaking"] {
      #expect(text.shown() == text)
      #expect(text.shown(keepsLines: true) == text)
    }
  }

  @Test(
    "what steers a terminal, turns the direction of writing or is not seen stands as an escape",
    arguments: [
      0x0, 0x7, 0x8, 0x9, 0xA, 0xD, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0x9F, 0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200C,
      0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066, 0x2067, 0x2068,
      0x2069, 0x3164, 0xE000, 0xFE0F, 0xFEFF, 0xFFF9, 0xFDD0, 0xFFFF, 0xE0041, 0xE01EF, 0x1FFFE, 0x10FFFF,
    ] as [UInt32])
  func escaped(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let escape = "\\u{\(String(value, radix: 16, uppercase: true))}"
    #expect("a\(scalar)b".shown() == "a\(escape)b")
  }

  @Test("a character with more than 30 marks is parted, and no other text is changed")
  func streamSafe() {
    for text in ["", "plain", "Grüße, e\u{301}, नमस्ते 🦊", "e" + String(repeating: "\u{301}", count: 30)] {
      #expect(text.streamSafe.utf8.elementsEqual(text.utf8))
    }
    let parted = ("e" + String(repeating: "\u{301}", count: 61)).streamSafe
    #expect(parted.unicodeScalars.filter { $0 == "\u{34F}" }.count == 2)
    #expect(parted.unicodeScalars.count == 64)
  }

  @Test("to hash, compare and search a stream-safe text takes a time that grows with its length")
  func time() async throws {
    let growth = try await inTurn { () async throws -> Double in
      await TestSupport.growth { (count: Int) -> String in
        let marks = String(repeating: "\u{301}", count: count / 2) + String(repeating: "\u{316}", count: count / 2)
        return "a\(marks)".streamSafe
      } _: { (text: String) in
        let (after, before): (String, String) = ("\(text)b", "b\(text)")
        let names: Set<String> = [text, after, before]
        #expect(names.count == 3)
        #expect(!text.contains(" "))
      }
    }
    #expect(growth < 9)
  }

  @Test("line feeds stand only in a text of several lines")
  func lines() {
    #expect("a\n\tb\r".shown(keepsLines: true) == "a\n\\u{9}b\\u{D}")
    #expect("a\n\tb\r".shown() == "a\\u{A}\\u{9}b\\u{D}")
  }

  @Test("no text is longer than its limit, whatever it is made of")
  func limit() {
    #expect("12345".shown(limit: 5) == "12345")
    #expect("123456".shown(limit: 5) == "1234…")
    #expect(String(repeating: "\u{1B}", count: 100).shown(limit: 20).unicodeScalars.count <= 20)
    // One character for Swift, a thousand for a terminal.
    let marked = "e" + String(repeating: "\u{301}", count: 1000)
    #expect(marked.count == 1)
    #expect(marked.shown(limit: 100).unicodeScalars.count == 100)
    #expect(String(repeating: "x", count: 1 << 20).shown().count == String.shownLength)
    let redactor = Redactor(EmptyCollection<Secret>())
    #expect(redactor.line(marked).unicodeScalars.count == 200)
  }
}
