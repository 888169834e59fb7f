import HearthCore
import TestSupport
import Testing

@testable import HearthControl

@Suite struct JSONParserTests {
  @Test(
    "reads what RFC 8259 allows",
    arguments: [
      ("null", .null), (" true\r\n", true), ("\tfalse", false), ("0", 0), ("-12", -12), ("\"\"", ""),
      (#""a\"\\\/\b\f\n\r\té""#, "a\"\\/\u{8}\u{C}\n\r\té"), (#""😀""#, "😀"), ("\"ü\u{7F}\"", "ü\u{7F}"),
      (#""\u0000""#, "\0"), ("[]", []), ("[ 1 , [ ] ]", [1, []]), ("{}", [:]),
      (#"{ "b" : 1 , "a" : { "" : null } }"#, ["b": 1, "a": ["": nil]]),
    ] as [(String, JSON)])
  func reads(text: String, value: JSON) throws {
    #expect(try JSON(parsing: text) == value)
  }

  @Test(
    "refuses what RFC 8259 does not allow",
    arguments: [
      "", " ", "nul", "nulls", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "1 2",
      "[1,]",
      "[,1]", "[1", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{\"a\":1", "'a'", "\"a", "\"\u{1}\"", "\"\n\"", #""\x""#,
      #""\u12"#,
      #""\u12G4""#, "[1]]", "{}{}", "\u{FEFF}1", "// 1", "[1 2]", "\"\\", "{\"a\":1 \"b\":2}",
    ])
  func refuses(text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text) }
  }

  @Test("refuses unpaired surrogate", arguments: [#""\uD83D""#, #""\uDE00""#, #""\uD83D\n""#, #""\uD83DA""#])
  func refusesLoneSurrogates(text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text) }
  }

  @Test(
    "refuses strings that are not UTF-8",
    arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
  func refusesBadUTF8(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON(parsing: [0x22] + bytes + [0x22]) }
    #expect(throws: JSONError.self) { try JSON(parsing: Array(#""\n"#.utf8) + bytes + [0x22]) }
  }

  @Test("refuses a key twice in one object, also in a large one and however it is written")
  func refusesDuplicateKeys() {
    #expect(throws: JSONError.self) { try JSON(parsing: #"{"a":1,"a":1}"#) }
    #expect(throws: JSONError.self) { try JSON(parsing: #"{"a":1,"\u0061":1}"#) }
    let members = (0..<40).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(throws: Never.self) { try JSON(parsing: "{\(members)}") }
    for repeated in [0, 15, 16, 39] {
      #expect(throws: JSONError.self) { try JSON(parsing: "{\(members),\"k\(repeated)\":0}") }
    }
  }

  @Test("reads 128 levels and no more")
  func limitsDepth() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(throws: Never.self) { try JSON(parsing: nested(128)) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(129)) }
    #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
    #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "{\"a\":", count: 1_000_000)) }
  }

  @Test(
    "keeps numbers in the text they came in", arguments: ["1.0", "1e3", "-0", "123456789012345678901234567890", "1E-7"])
  func keepsNumberText(text: String) throws {
    #expect(try JSON(parsing: text).description == text)
  }

  @Test("tells whole numbers from others")
  func wholeNumbers() throws {
    #expect(try JSON(parsing: "1e3").int == 1000)
    #expect(try JSON(parsing: "2.0").int == 2)
    #expect(try JSON(parsing: "2.5").int == nil)
    #expect(try JSON(parsing: "1e99").int == nil)
    #expect(try JSON(parsing: "9223372036854775807").int == .max)
  }

  @Test("keeps the order of members")
  func keepsOrder() throws {
    let text = #"{"z":1,"a":2,"m":{"y":3,"b":4}}"#
    #expect(try JSON(parsing: text).description == text)
  }

  @Test("never fails otherwise than by its error, whatever the bytes")
  func survivesRandomBytes() {
    var random = SeededGenerator(seed: 1)
    let alphabet = Array(#"{}[]",:\u0123eE+-.truefalsnl "#.utf8) + [0xC3, 0xA9, 0xFF, 0x00, 0x0A]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
      guard let json = try? JSON(parsing: bytes) else { continue }
      #expect((try? JSON(parsing: json.bytes)) == json)
    }
  }

  @Test("reads back whatever it writes")
  func roundTrips() throws {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<2_000 {
      let value = randomValue(depth: 4, &random)
      #expect(try JSON(parsing: value.bytes) == value)
    }
  }

  @Test("refuses every cut of a document")
  func refusesCuts() {
    let document = Array(#"{"a":[1,-2.5e3,"xé\n",true,null],"b":{"c":"😀"}}"#.utf8)
    for count in 0..<document.count {
      #expect(throws: JSONError.self) { try JSON(parsing: Array(document[..<count])) }
    }
  }

  private func randomValue(depth: Int, _ random: inout SeededGenerator) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return JSON(Int.random(in: .min ... .max, using: &random))
    case 3: return .number("\(Double.random(in: -1e300...1e300, using: &random))")
    case 4: return .string(randomText(&random))
    case 5:
      return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in randomValue(depth: depth - 1, &random) })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        object[randomText(&random)] = randomValue(depth: depth - 1, &random)
      }
      return .object(object)
    }
  }

  private func randomText(_ random: inout SeededGenerator) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<12, using: &random) {
      let value = UInt32.random(in: 0..<(Bool.random(using: &random) ? 0x80 : 0x11_0000), using: &random)
      if let scalar = Unicode.Scalar(value) { text.append(scalar) }
    }
    return String(text)
  }
}
