import HearthControl
import Testing

@Suite struct ParameterReaderTests {
  private enum Lane: String, CaseIterable { case fast, slow }

  /// The message of the -32602 that `read` ends in.
  private func refusal(_ params: JSONObject, _ read: (inout ParameterReader) throws -> Void) -> String? {
    var reader = ParameterReader(params)
    do {
      try read(&reader)
      try reader.finish()
      return nil
    } catch let error as RPCError {
      #expect(error.code == -32602)
      return error.message
    } catch {
      return "\(error)"
    }
  }

  @Test("reads what is there and nil for what is absent or null")
  func reads() throws {
    var reader = ParameterReader([
      "s": "x", "i": 5, "b": true, "c": "slow", "l": ["p", "q"], "n": nil, "h": ["A": "1", "B": ["2", "3"]],
      "body": "é", "items": [["k": 1]],
    ])
    #expect(try reader.string("s") == "x")
    #expect(try reader.int("i") == 5)
    #expect(try reader.bool("b", default: false))
    #expect(try reader.choice("c", of: Lane.self) == .slow)
    #expect(try reader.optionalStrings("l") == ["p", "q"])
    #expect(try reader.optionalString("n") == nil)
    #expect(try reader.optionalInt("none") == nil)
    #expect(try reader.bool("none", default: true))
    #expect(try reader.headers("h").map { "\($0.name)=\($0.value)" } == ["A=1", "B=2", "B=3"])
    #expect(try reader.body() == Array("é".utf8))
    var items = try reader.readers("items")
    #expect(try items[0].int("k") == 1)
    try reader.finish()
  }

  @Test("names the parameter that is missing, of the wrong type, out of range or unknown")
  func names() {
    #expect(refusal([:]) { _ = try $0.string("account") } == "The parameter \"account\" is missing.")
    #expect(refusal(["a": 1]) { _ = try $0.string("a") } == "The parameter \"a\" must be a string.")
    #expect(refusal(["a": "1"]) { _ = try $0.int("a") } == "The parameter \"a\" must be a whole number.")
    #expect(refusal(["a": 1.5]) { _ = try $0.int("a") } == "The parameter \"a\" must be a whole number.")
    #expect(refusal(["a": -1]) { _ = try $0.int("a", in: 0...9) } == "The parameter \"a\" must be 0 or more.")
    #expect(refusal(["a": 10]) { _ = try $0.int("a", in: 0...9) } == "The parameter \"a\" must be 9 or less.")
    #expect(refusal(["a": 1]) { _ = try $0.bool("a", default: true) } == "The parameter \"a\" must be true or false.")
    #expect(
      refusal(["a": "x"]) { _ = try $0.choice("a", of: Lane.self) } == "The parameter \"a\" must be one of fast, slow.")
    #expect(refusal(["b": 1]) { _ = try $0.optionalString("a") } == "The parameter \"b\" is not known.")
    #expect(
      refusal(["items": [[:], ["x": 1]]]) { for item in try $0.readers("items") { try item.finish() } }
        == "The parameter \"items[1].x\" is not known.")
    #expect(
      refusal(["headers": ["A": 1]]) { _ = try $0.headers() }
        == "The parameter \"headers\" must be an object of strings.")
  }

  @Test("takes a body as text or Base64, not both")
  func bodies() throws {
    var reader = ParameterReader(["bodyBase64": "/w=="])
    #expect(try reader.body() == [0xFF])
    var none = ParameterReader([:])
    #expect(try none.body() == nil)
    #expect(refusal(["bodyBase64": "?"]) { _ = try $0.body() }?.contains("\"bodyBase64\"") == true)
    #expect(refusal(["bodyBase64": "", "body": ""]) { _ = try $0.body() }?.contains("\"bodyBase64\"") == true)
  }
}
