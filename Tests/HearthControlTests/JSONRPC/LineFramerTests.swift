import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite struct LineFramerTests {
  private func lines(_ framer: inout LineFramer) throws -> [String] {
    var lines: [String] = []
    while let line = try framer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    return lines
  }

  @Test("gives whole lines and keeps the rest for later")
  func cuts() throws {
    var framer = LineFramer(limit: 10)
    framer.push(Array("a\n\nbc\nd".utf8))
    #expect(try lines(&framer) == ["a", "", "bc"])
    #expect(framer.isInsideLine)
    framer.push(Array("e\n".utf8))
    #expect(try lines(&framer) == ["de"])
    #expect(!framer.isInsideLine)
    #expect(try lines(&framer) == [])
  }

  @Test("gives the same lines however the bytes come in")
  func cutsAnywhere() throws {
    var random = SeededGenerator(seed: 4)
    let expected = (0..<300).map { String(repeating: "x", count: $0 % 40) }
    var bytes = ArraySlice(expected.joined(separator: "\n").utf8 + [UInt8(ascii: "\n")])
    var framer = LineFramer(limit: 40)
    var found: [String] = []
    while !bytes.isEmpty {
      let count = min(Int.random(in: 1..<90, using: &random), bytes.count)
      framer.push(bytes.prefix(count))
      bytes = bytes.dropFirst(count)
      // Not every time, so that lines pile up too.
      if Bool.random(using: &random) { found += try lines(&framer) }
    }
    found += try lines(&framer)
    #expect(found == expected)
  }

  @Test("keeps nothing of a line that it has given out")
  func forgets() throws {
    func kept(_ framer: LineFramer) -> [UInt8] { Mirror(reflecting: framer).descendant("buffer") as? [UInt8] ?? [] }
    var framer = LineFramer(limit: 100)
    framer.push(Array("secret\nsecret\nrest".utf8))
    #expect(kept(framer).contains(UInt8(ascii: "c")), "the buffer is looked at")
    _ = try framer.next()
    _ = try framer.next()
    #expect(!kept(framer).contains(UInt8(ascii: "c")))
    framer.push(Array(" of it".utf8))
    #expect(String(decoding: kept(framer), as: UTF8.self) == "rest of it")
  }

  @Test("a line of the limit passes; one byte more does not, ended or not")
  func limits() throws {
    var framer = LineFramer(limit: 3)
    framer.push(Array("abc\n".utf8))
    #expect(try lines(&framer) == ["abc"])
    framer.push(Array("abcd".utf8))
    #expect(throws: LineFramer.LineTooLong.self) { try framer.next() }
    var other = LineFramer(limit: 3)
    other.push(Array("ab\nabcd\n".utf8))
    #expect(try other.next() == Array("ab".utf8))
    #expect(throws: LineFramer.LineTooLong.self) { try other.next() }
  }
}
