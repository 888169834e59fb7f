import HearthControl
import Testing

@Suite struct JSONTests {
  @Test("writes compactly and escapes only what must be, and what is not plain text")
  func writes() throws {
    let json: JSON = ["a": [1, -2, nil, true], "é\"\\": "\u{0}\u{1F}\n\u{7F}/😀"]
    #expect(json.description == #"{"a":[1,-2,null,true],"é\"\\":"\u0000\u001f\n\u007f/😀"}"#)
    let hostile: JSON = .string("東\u{80}\u{9B}\u{200D}\u{202E}\u{2028}\u{FFFF}\u{E0041}\u{10FFFF}京")
    #expect(
      hostile.description == #""東\u0080\u009b\u200d\u202e\u2028\uffff\udb40\udc41\udbff\udfff京""#)
    #expect(try JSON(parsing: hostile.bytes) == hostile, "the value is the same")
  }

  @Test("what is not there becomes null")
  func writesNull() {
    #expect(JSON(nil as String?) == .null)
    #expect(JSON(nil as Int?) == .null)
  }

  @Test("gives members and elements by key and index, and nil for what is not there")
  func accessors() {
    let json: JSON = ["list": ["x"], "flag": false, "text": "t"]
    #expect(json["list"]?[0]?.string == "x")
    #expect(json["list"]?[1] == nil)
    #expect(json["flag"]?.bool == false)
    #expect(json["text"]?.int == nil)
    #expect(json["none"] == nil)
    #expect(JSON.null["a"] == nil)
    #expect(JSON.null.isNull)
  }

  @Test("members are set in place, added at the end, and taken away by nil")
  func setsMembers() {
    var object: JSONObject = ["a": 1, "b": 2]
    object["a"] = 3
    object["c"] = 4
    object["b"] = nil
    #expect(JSON.object(object).description == #"{"a":3,"c":4}"#)
  }

  @Test(
    "a member is found by the bytes of its key alone", arguments: [("K", "\u{212A}"), ("caf\u{E9}", "cafe\u{301}")])
  func looksAlike(_ key: String, _ other: String) throws {
    let object = try #require(try JSON(parsing: "{\"\(key)\":1,\"\(other)\":2}").object)
    #expect(object[key] == 1 && object[other] == 2 && object[key + key] == nil)
  }
}
